CREATE TABLE `probed_resources` (
	`url` text PRIMARY KEY NOT NULL,
	`host` text NOT NULL,
	`method` text NOT NULL,
	`probed_at` integer NOT NULL,
	`status` text NOT NULL,
	`ms` integer,
	`accepts` text NOT NULL,
	`pay_to` text,
	`pay_to_first_seen` integer,
	`pay_to_changed_at` integer,
	`price_micro_usd` integer
) STRICT;
--> statement-breakpoint
CREATE TABLE `probe_days` (
	`url` text NOT NULL,
	`day` text NOT NULL,
	`host` text NOT NULL,
	`paid` integer NOT NULL,
	`down` integer NOT NULL,
	`blocked` integer NOT NULL,
	`payment_broken` integer NOT NULL,
	`latencies` text NOT NULL,
	PRIMARY KEY(`url`, `day`)
) STRICT;
--> statement-breakpoint
CREATE INDEX `probe_days_by_host` ON `probe_days` (`host`,`day`);
--> statement-breakpoint
CREATE INDEX `probe_days_by_day` ON `probe_days` (`day`);
--> statement-breakpoint
CREATE TABLE `probe_changes` (
	`n` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`host` text NOT NULL,
	`url` text NOT NULL,
	`kind` text NOT NULL,
	`before` text NOT NULL,
	`after` text NOT NULL,
	`at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `probe_changes_by_host` ON `probe_changes` (`host`,`n`);
--> statement-breakpoint
CREATE INDEX `probe_changes_by_time` ON `probe_changes` (`at`);
