CREATE TABLE `reports` (
	`report_id` text PRIMARY KEY NOT NULL,
	`origin` text NOT NULL,
	`scanned_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`report` text NOT NULL,
	`evidence` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `reports_by_origin` ON `reports` (`origin`,`scanned_at`);
--> statement-breakpoint
CREATE INDEX `reports_by_time` ON `reports` (`scanned_at`);
--> statement-breakpoint
CREATE TABLE `scanned_hosts` (
	`host` text PRIMARY KEY NOT NULL,
	`listing` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TRIGGER `reports_never_change` BEFORE UPDATE ON `reports`
BEGIN
	SELECT RAISE(ABORT, 'a report never changes');
END;
