CREATE TABLE `webhook_deliveries` (
	`delivery_id` text PRIMARY KEY NOT NULL,
	`webhook_id` text NOT NULL,
	`account_id` text NOT NULL,
	`url` text,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`scheduled` integer NOT NULL,
	`last_attempt_at` integer,
	`next_attempt_at` integer,
	`status` integer,
	`error` text,
	`latency_ms` integer NOT NULL,
	`answer` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhook_deliveries_pending` ON `webhook_deliveries` (`webhook_id`,`next_attempt_at`) WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_sending` ON `webhook_deliveries` (`delivery_id`) WHERE "webhook_deliveries"."state" = 'sending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_webhook` ON `webhook_deliveries` (`webhook_id`,`created_at`,`delivery_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_age` ON `webhook_deliveries` (`created_at`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`webhook_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`url` text NOT NULL,
	`events` text,
	`description` text,
	`disabled_reason` text,
	`secret` text NOT NULL,
	`former_secrets` text NOT NULL,
	`created_at` integer NOT NULL,
	`failing_since` integer,
	`due_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`account_id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `webhooks_by_account` ON `webhooks` (`account_id`,`created_at`,`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhooks_due` ON `webhooks` (`due_at`) WHERE "webhooks"."due_at" is not null;