CREATE TABLE `__new_usage_events` (
	`event_id` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`plan_period_id` integer NOT NULL,
	`at` integer NOT NULL,
	`endpoint` text NOT NULL,
	`units` integer NOT NULL,
	CONSTRAINT "usage_events_units" CHECK("__new_usage_events"."units" > 0)
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_usage_events` SELECT * FROM `usage_events` ORDER BY `event_id`;
--> statement-breakpoint
DROP TABLE `usage_events`;
--> statement-breakpoint
ALTER TABLE `__new_usage_events` RENAME TO `usage_events`;
--> statement-breakpoint
CREATE TRIGGER `usage_events_never_change` BEFORE UPDATE ON `usage_events`
BEGIN
	SELECT RAISE(ABORT, 'a usage event never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `usage_events_never_go` BEFORE DELETE ON `usage_events`
BEGIN
	SELECT RAISE(ABORT, 'a usage event never goes');
END;
--> statement-breakpoint
CREATE TRIGGER `usage_events_never_replaced` BEFORE INSERT ON `usage_events`
WHEN NEW.`event_id` > 0 AND EXISTS (SELECT 1 FROM `usage_events` WHERE `event_id` = NEW.`event_id`)
BEGIN
	SELECT RAISE(ABORT, 'a usage event never changes');
END;
