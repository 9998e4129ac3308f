import { openStore } from "../../src/store/sqlite/open.ts";
import { describeStore } from "./store-conformance.ts";

describeStore("SQLite", (clock) => openStore({ path: ":memory:", clock }));
