CREATE INDEX `webhook_deliveries_waiting` ON `webhook_deliveries` (`next_attempt_at`) WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `api_keys_unrevoked` ON `api_keys` (`account_id`,`expires_at`) WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX `api_keys_revoked` ON `api_keys` (`account_id`,`revoked_at`) WHERE "api_keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX `api_keys_by_expiry` ON `api_keys` (`expires_at`) WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX `api_keys_by_revocation` ON `api_keys` (`revoked_at`) WHERE "api_keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX `jobs_listed` ON `jobs` (`account_id`,`created_at`,`job_id`) WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_of_account_by_status` ON `jobs` (`account_id`,`status`);--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `claims` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failed_at` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failing_ms` integer DEFAULT 0 NOT NULL;