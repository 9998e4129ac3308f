ALTER TABLE `webhooks` ADD `failed_at` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failing_ms` integer DEFAULT 0 NOT NULL;