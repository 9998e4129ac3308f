ALTER TABLE `webhook_deliveries` ADD `claims` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_waiting` ON `webhook_deliveries` (`next_attempt_at`) WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_tests` ON `webhook_deliveries` (`webhook_id`,`created_at`,`delivery_id`) WHERE "webhook_deliveries"."type" = 'webhook.test';--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failed_at` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failing_ms` integer DEFAULT 0 NOT NULL;