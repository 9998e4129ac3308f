CREATE TRIGGER `invoices_never_change` BEFORE UPDATE ON `invoices`
BEGIN
	SELECT RAISE(ABORT, 'an issued invoice never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `invoices_never_go` BEFORE DELETE ON `invoices`
BEGIN
	SELECT RAISE(ABORT, 'an issued invoice never goes');
END;
--> statement-breakpoint
CREATE TRIGGER `plan_periods_stay_as_invoiced` BEFORE UPDATE ON `plan_periods` WHEN OLD.`invoice_id` IS NOT NULL
BEGIN
	SELECT RAISE(ABORT, 'an invoiced plan period never changes');
END;
--> statement-breakpoint
CREATE TRIGGER `plan_periods_never_go` BEFORE DELETE ON `plan_periods`
BEGIN
	SELECT RAISE(ABORT, 'a plan period never goes');
END;
--> statement-breakpoint
CREATE TRIGGER `usage_events_never_change` BEFORE UPDATE ON `usage_events`
BEGIN
	SELECT RAISE(ABORT, 'a usage event never changes');
END;
