CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER invoices_never_change BEFORE UPDATE ON invoices FOR EACH ROW EXECUTE FUNCTION refuse_change('an issued invoice never changes');
--> statement-breakpoint
CREATE TRIGGER invoices_never_go BEFORE DELETE ON invoices FOR EACH ROW EXECUTE FUNCTION refuse_change('an issued invoice never goes');
--> statement-breakpoint
CREATE TRIGGER plan_periods_stay_as_invoiced BEFORE UPDATE ON plan_periods FOR EACH ROW WHEN (OLD.invoice_id IS NOT NULL) EXECUTE FUNCTION refuse_change('an invoiced plan period never changes');
--> statement-breakpoint
CREATE TRIGGER plan_periods_never_go BEFORE DELETE ON plan_periods FOR EACH ROW EXECUTE FUNCTION refuse_change('a plan period never goes');
--> statement-breakpoint
CREATE TRIGGER usage_events_never_change BEFORE UPDATE ON usage_events FOR EACH ROW EXECUTE FUNCTION refuse_change('a usage event never changes');
--> statement-breakpoint
CREATE TRIGGER usage_events_never_go BEFORE DELETE ON usage_events FOR EACH ROW EXECUTE FUNCTION refuse_change('a usage event never goes');
--> statement-breakpoint
CREATE TRIGGER operator_acts_never_change BEFORE UPDATE ON operator_acts FOR EACH ROW EXECUTE FUNCTION refuse_change('an act of an operator never changes');
--> statement-breakpoint
CREATE TRIGGER operator_acts_never_go BEFORE DELETE ON operator_acts FOR EACH ROW EXECUTE FUNCTION refuse_change('an act of an operator never goes');
