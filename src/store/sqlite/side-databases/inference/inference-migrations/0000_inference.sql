CREATE TABLE `receipts` (
	`receipt_id` text PRIMARY KEY NOT NULL,
	`payment_id` text NOT NULL,
	`begun` text NOT NULL,
	`position` integer UNIQUE,
	`day` text,
	`jws` text,
	`sha256` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `receipts_open` ON `receipts` (`receipt_id`) WHERE "position" is null;
--> statement-breakpoint
CREATE INDEX `receipts_by_payment` ON `receipts` (`payment_id`);
--> statement-breakpoint
CREATE INDEX `receipts_by_day` ON `receipts` (`day`,`position`);
--> statement-breakpoint
CREATE TABLE `receipt_days` (
	`day` text PRIMARY KEY NOT NULL,
	`tree` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `tasks` (
	`task_id` text PRIMARY KEY NOT NULL,
	`state` text NOT NULL,
	`sealed` text,
	`answer` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE INDEX `tasks_running` ON `tasks` (`created_at`) WHERE "state" = 'running';
--> statement-breakpoint
CREATE INDEX `tasks_by_expiry` ON `tasks` (`expires_at`);
--> statement-breakpoint
CREATE TRIGGER `issued_receipts_stay` BEFORE UPDATE ON `receipts`
WHEN OLD.`position` IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'an issued receipt never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `receipts_never_go` BEFORE DELETE ON `receipts`
BEGIN
	SELECT RAISE(ABORT, 'a receipt never goes');
END;
