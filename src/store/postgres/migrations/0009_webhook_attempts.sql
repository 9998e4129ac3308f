ALTER TABLE "webhook_deliveries" ADD COLUMN "claims" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failed_at" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failing_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_waiting" ON "webhook_deliveries" USING btree ("next_attempt_at") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_tests" ON "webhook_deliveries" USING btree ("webhook_id","created_at","delivery_id") WHERE "webhook_deliveries"."type" = 'webhook.test';