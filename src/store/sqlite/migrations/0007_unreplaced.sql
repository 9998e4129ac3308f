CREATE TRIGGER `usage_events_never_replaced` BEFORE INSERT ON `usage_events`
WHEN NEW.`event_id` > 0 AND EXISTS (SELECT 1 FROM `usage_events` WHERE `event_id` = NEW.`event_id`)
BEGIN
	SELECT RAISE(ABORT, 'a usage event never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `operator_acts_never_replaced` BEFORE INSERT ON `operator_acts`
WHEN NEW.`act_id` > 0 AND EXISTS (SELECT 1 FROM `operator_acts` WHERE `act_id` = NEW.`act_id`)
BEGIN
	SELECT RAISE(ABORT, 'an act of an operator never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `plan_periods_never_replaced` BEFORE INSERT ON `plan_periods`
WHEN EXISTS (
	SELECT 1 FROM `plan_periods`
	WHERE `plan_period_id` = NEW.`plan_period_id`
		OR (`account_id` = NEW.`account_id` AND `ends_at` IS NULL AND NEW.`ends_at` IS NULL)
)
BEGIN
	SELECT RAISE(ABORT, 'a plan period never goes');
END;
--> statement-breakpoint
CREATE TRIGGER `invoices_never_replaced` BEFORE INSERT ON `invoices`
WHEN EXISTS (
	SELECT 1 FROM `invoices`
	WHERE `invoice_id` = NEW.`invoice_id`
		OR (`account_id` = NEW.`account_id` AND `period_start` = NEW.`period_start`)
)
BEGIN
	SELECT RAISE(IGNORE);
END;
