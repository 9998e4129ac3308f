CREATE TABLE `accounts` (
	`account_id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`normalized` text NOT NULL,
	`name` text,
	`company` text,
	`country` text,
	`referral_code` text,
	`plan` text NOT NULL,
	`pending_plan` text,
	`spend_limit_micro_usd` integer,
	`created_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `accounts_by_normalized` ON `accounts` (`normalized`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`key_hash` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`account_id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `api_keys_by_account` ON `api_keys` (`account_id`);--> statement-breakpoint
CREATE TABLE `idempotent_replies` (
	`account_id` text NOT NULL,
	`idempotency_key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer NOT NULL,
	`body_bytes` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`headers` text NOT NULL,
	`body_file` text,
	`body` text,
	PRIMARY KEY(`account_id`, `idempotency_key`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `idempotent_replies_by_expiry` ON `idempotent_replies` (`expires_at`,`body_bytes`);--> statement-breakpoint
CREATE TABLE `invoices` (
	`invoice_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`units` integer NOT NULL,
	`total_micro_usd` integer NOT NULL,
	`body` text NOT NULL,
	`issued_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`account_id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_by_period` ON `invoices` (`account_id`,`period_start`);--> statement-breakpoint
CREATE TABLE `plan_periods` (
	`plan_period_id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`period_start` integer NOT NULL,
	`period_end` integer NOT NULL,
	`plan` text NOT NULL,
	`monthly_price_micro_usd` integer NOT NULL,
	`included_units` integer NOT NULL,
	`overage_price_micro_usd` integer,
	`starts_at` integer NOT NULL,
	`ends_at` integer,
	`units` integer DEFAULT 0 NOT NULL,
	`calls` integer DEFAULT 0 NOT NULL,
	`invoice_id` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`account_id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "plan_periods_counts" CHECK("plan_periods"."units" >= 0 and "plan_periods"."calls" >= 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `plan_periods_by_account` ON `plan_periods` (`account_id`,`period_start`);--> statement-breakpoint
CREATE UNIQUE INDEX `plan_periods_running` ON `plan_periods` (`account_id`) WHERE "plan_periods"."ends_at" is null;--> statement-breakpoint
CREATE INDEX `plan_periods_running_by_end` ON `plan_periods` (`period_end`) WHERE "plan_periods"."ends_at" is null;--> statement-breakpoint
CREATE INDEX `plan_periods_uninvoiced_by_end` ON `plan_periods` (`period_end`) WHERE "plan_periods"."invoice_id" is null;--> statement-breakpoint
CREATE TABLE `probes` (
	`probe_id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`day` text NOT NULL,
	`endpoint` text NOT NULL,
	`calls` integer NOT NULL,
	`units` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `endpoint`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `usage_events` (
	`event_id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`plan_period_id` integer NOT NULL,
	`at` integer NOT NULL,
	`endpoint` text NOT NULL,
	`units` integer NOT NULL,
	CONSTRAINT "usage_events_units" CHECK("usage_events"."units" > 0)
) STRICT;
