CREATE TABLE `quota_marks` (
	`account_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`percent` integer NOT NULL,
	PRIMARY KEY(`account_id`, `period_start`, `percent`)
) STRICT;
--> statement-breakpoint
ALTER TABLE `api_keys` ADD `expiry_told_at` integer;--> statement-breakpoint
CREATE INDEX `api_keys_to_tell_of` ON `api_keys` (`expires_at`) WHERE "api_keys"."expires_at" is not null and "api_keys"."expiry_told_at" is null;