CREATE TABLE `kept_clock` (
	`clock_id` integer PRIMARY KEY NOT NULL,
	`kept_at` integer NOT NULL,
	`confirmed_at` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `operator_acts` (
	`act_id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` integer NOT NULL,
	`operator` text NOT NULL,
	`action` text NOT NULL,
	`account_id` text,
	`details` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `operator_commands` (
	`command_id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`asked_at` integer NOT NULL,
	`operator` text NOT NULL,
	`command` text NOT NULL,
	`outcome` text
) STRICT;
--> statement-breakpoint
ALTER TABLE `accounts` ADD `suspended_at` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `erased_at` integer;--> statement-breakpoint
ALTER TABLE `plan_periods` ADD `credited_units` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
INSERT INTO `kept_clock` SELECT 1, `at`, NULL FROM (
	SELECT max(`at`) AS `at` FROM (SELECT max(`at`) AS `at` FROM `usage_events` UNION ALL SELECT max(`starts_at`) FROM `plan_periods`)
) WHERE `at` IS NOT NULL;
--> statement-breakpoint
CREATE TRIGGER `usage_events_never_go` BEFORE DELETE ON `usage_events`
BEGIN
	SELECT RAISE(ABORT, 'a usage event never goes');
END;
--> statement-breakpoint
CREATE TRIGGER `operator_acts_never_change` BEFORE UPDATE ON `operator_acts`
BEGIN
	SELECT RAISE(ABORT, 'an act of an operator never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `operator_acts_never_go` BEFORE DELETE ON `operator_acts`
BEGIN
	SELECT RAISE(ABORT, 'an act of an operator never goes');
END;
