DROP INDEX `api_keys_expiring`;--> statement-breakpoint
CREATE INDEX `api_keys_without_event` ON `api_keys` (`expires_at`) WHERE "api_keys"."expires_at" is not null and "api_keys"."expiry_event_at" is null and "api_keys"."revoked_at" is null and "api_keys"."rotates_at" is null;--> statement-breakpoint
DROP INDEX `jobs_listed`;--> statement-breakpoint
CREATE INDEX `jobs_listed_by_time` ON `jobs` (`account_id`,`is_test`,`created_at`,`job_id`) WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX `jobs_listed_by_status` ON `jobs` (`account_id`,`is_test`,`status`,`created_at`,`job_id`) WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
DROP INDEX `idempotent_replies_by_expiry`;--> statement-breakpoint
CREATE INDEX `idempotent_replies_with_file` ON `idempotent_replies` (`body_file`) WHERE "idempotent_replies"."body_file" is not null;--> statement-breakpoint
CREATE INDEX `idempotent_replies_by_expiry` ON `idempotent_replies` (`expires_at`,`body_bytes`,`account_id`);