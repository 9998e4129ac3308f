ALTER TABLE `api_keys` ADD `key_id` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `name` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `hint` text DEFAULT 'asy_' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `scopes` text DEFAULT 'verify read account' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `last_used_at` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `rotates_at` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `revoked_at` integer;--> statement-breakpoint
UPDATE `api_keys` SET `key_id` = 'key_' || substr(`key_hash`, 1, 20);--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_by_id` ON `api_keys` (`key_id`);