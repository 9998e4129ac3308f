ALTER TABLE "webhooks" ADD COLUMN "failed_at" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failing_ms" bigint DEFAULT 0 NOT NULL;