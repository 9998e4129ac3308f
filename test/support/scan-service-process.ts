// The scanning service as a process of its own, which a test watches.
import "../../src/scan-service.ts";
