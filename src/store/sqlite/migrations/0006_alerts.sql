CREATE TABLE `quota_marks` (
	`account_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`percent` integer NOT NULL,
	PRIMARY KEY(`account_id`, `period_start`, `percent`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `expiry_event_at` integer;--> statement-breakpoint
CREATE INDEX `api_keys_expiring` ON `api_keys` (`expires_at`) WHERE "api_keys"."expires_at" is not null and "api_keys"."expiry_event_at" is null;