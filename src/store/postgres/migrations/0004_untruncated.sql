CREATE TRIGGER invoices_never_truncated BEFORE TRUNCATE ON invoices FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('an issued invoice never goes');
--> statement-breakpoint
CREATE TRIGGER plan_periods_never_truncated BEFORE TRUNCATE ON plan_periods FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a plan period never goes');
--> statement-breakpoint
CREATE TRIGGER usage_events_never_truncated BEFORE TRUNCATE ON usage_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('a usage event never goes');
--> statement-breakpoint
CREATE TRIGGER operator_acts_never_truncated BEFORE TRUNCATE ON operator_acts FOR EACH STATEMENT EXECUTE FUNCTION refuse_change('an act of an operator never goes');
