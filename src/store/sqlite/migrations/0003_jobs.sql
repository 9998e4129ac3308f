CREATE TABLE `job_chunks` (
	`job_id` text NOT NULL,
	`n` integer NOT NULL,
	`state` text NOT NULL,
	`attempt` integer NOT NULL,
	`first_row` integer NOT NULL,
	`rows` integer NOT NULL,
	`form` text NOT NULL,
	`duplicates` blob,
	`rows_done` integer NOT NULL,
	`units` integer NOT NULL,
	`unchecked` integer NOT NULL,
	`line_bytes` integer NOT NULL,
	PRIMARY KEY(`job_id`, `n`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `job_chunks_waiting` ON `job_chunks` (`job_id`,`n`) WHERE "job_chunks"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX `job_chunks_unfinished` ON `job_chunks` (`job_id`) WHERE "job_chunks"."state" <> 'done';--> statement-breakpoint
CREATE TABLE `job_inputs` (
	`job_id` text NOT NULL,
	`n` integer NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`job_id`, `n`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `job_results` (
	`job_id` text NOT NULL,
	`n` integer NOT NULL,
	`rows_done` integer NOT NULL,
	`body` blob NOT NULL,
	PRIMARY KEY(`job_id`, `n`, `rows_done`)
) STRICT;
--> statement-breakpoint
CREATE TABLE `jobs` (
	`job_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`name` text,
	`status` text NOT NULL,
	`status_reason` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`expires_at` integer,
	`erased_at` integer,
	`deleted_at` integer,
	`options` text NOT NULL,
	`input_table` text,
	`chunk_count` integer NOT NULL,
	`rows` integer NOT NULL,
	`distinct_rows` integer NOT NULL,
	`units_per_item` integer NOT NULL,
	`processed` integer NOT NULL,
	`counts` text NOT NULL,
	`units_charged` integer NOT NULL,
	`round` integer NOT NULL,
	`is_test` integer NOT NULL,
	`webhook_url` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`account_id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `jobs_by_account` ON `jobs` (`account_id`,`created_at`,`job_id`);--> statement-breakpoint
CREATE INDEX `jobs_by_status` ON `jobs` (`status`);--> statement-breakpoint
CREATE INDEX `jobs_by_expiry` ON `jobs` (`expires_at`) WHERE "jobs"."erased_at" is null;