CREATE TABLE "account_changes" (
	"account_id" text PRIMARY KEY NOT NULL,
	"changed_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "account_rates" (
	"account_id" text PRIMARY KEY NOT NULL,
	"full_at_us" bigint NOT NULL,
	"age_us_max" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"account_id" text PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"normalized" text NOT NULL,
	"name" text,
	"company" text,
	"country" text,
	"referral_code" text,
	"plan" text NOT NULL,
	"pending_plan" text,
	"spend_limit_micro_usd" bigint,
	"created_at" bigint NOT NULL,
	"suspended_at" bigint,
	"erased_at" bigint
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"key_hash" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint,
	"key_id" text DEFAULT '' NOT NULL,
	"name" text,
	"hint" text DEFAULT 'asy_' NOT NULL,
	"scopes" text DEFAULT 'verify read account' NOT NULL,
	"last_used_at" bigint,
	"rotates_at" bigint,
	"revoked_at" bigint,
	"expiry_event_at" bigint
);
--> statement-breakpoint
CREATE TABLE "flushes" (
	"process_id" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"outcome" text NOT NULL,
	"written_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "idempotency_claims" (
	"account_id" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"process_id" text NOT NULL,
	"lease_until" bigint NOT NULL,
	CONSTRAINT "idempotency_claims_account_id_idempotency_key_pk" PRIMARY KEY("account_id","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "idempotent_replies" (
	"account_id" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"fingerprint" text NOT NULL,
	"status" bigint NOT NULL,
	"body_bytes" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"headers" text NOT NULL,
	"body_file" text,
	"body" text,
	CONSTRAINT "idempotent_replies_account_id_idempotency_key_pk" PRIMARY KEY("account_id","idempotency_key")
);
--> statement-breakpoint
CREATE TABLE "invoices" (
	"invoice_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"period_start" bigint NOT NULL,
	"period_end" bigint NOT NULL,
	"units" bigint NOT NULL,
	"total_micro_usd" bigint NOT NULL,
	"body" text NOT NULL,
	"issued_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kept_clock" (
	"clock_id" bigint PRIMARY KEY NOT NULL,
	"kept_at" bigint NOT NULL,
	"confirmed_at" bigint
);
--> statement-breakpoint
CREATE TABLE "operator_acts" (
	"act_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "operator_acts_act_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"at" bigint NOT NULL,
	"operator" text NOT NULL,
	"action" text NOT NULL,
	"account_id" text,
	"details" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "operator_commands" (
	"command_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "operator_commands_command_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"asked_at" bigint NOT NULL,
	"operator" text NOT NULL,
	"command" text NOT NULL,
	"outcome" text
);
--> statement-breakpoint
CREATE TABLE "plan_periods" (
	"plan_period_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "plan_periods_plan_period_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"period_start" bigint NOT NULL,
	"period_end" bigint NOT NULL,
	"plan" text NOT NULL,
	"monthly_price_micro_usd" bigint NOT NULL,
	"included_units" bigint NOT NULL,
	"overage_price_micro_usd" bigint,
	"starts_at" bigint NOT NULL,
	"ends_at" bigint,
	"units" bigint DEFAULT 0 NOT NULL,
	"calls" bigint DEFAULT 0 NOT NULL,
	"invoice_id" text,
	"credited_units" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "plan_periods_counts" CHECK ("plan_periods"."units" >= 0 and "plan_periods"."calls" >= 0)
);
--> statement-breakpoint
CREATE TABLE "probes" (
	"probe_id" bigint PRIMARY KEY NOT NULL,
	"at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "quota_marks" (
	"account_id" text NOT NULL,
	"period_start" bigint NOT NULL,
	"percent" bigint NOT NULL,
	CONSTRAINT "quota_marks_account_id_period_start_percent_pk" PRIMARY KEY("account_id","period_start","percent")
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"account_id" text NOT NULL,
	"day" text NOT NULL,
	"endpoint" text NOT NULL,
	"calls" bigint NOT NULL,
	"units" bigint NOT NULL,
	CONSTRAINT "usage_days_account_id_day_endpoint_pk" PRIMARY KEY("account_id","day","endpoint")
);
--> statement-breakpoint
CREATE TABLE "usage_events" (
	"event_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "usage_events_event_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"account_id" text NOT NULL,
	"plan_period_id" bigint NOT NULL,
	"at" bigint NOT NULL,
	"endpoint" text NOT NULL,
	"units" bigint NOT NULL,
	CONSTRAINT "usage_events_units" CHECK ("usage_events"."units" > 0)
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invoices" ADD CONSTRAINT "invoices_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "plan_periods" ADD CONSTRAINT "plan_periods_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_changes_by_time" ON "account_changes" USING btree ("changed_at");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_by_normalized" ON "accounts" USING btree ("normalized");--> statement-breakpoint
CREATE INDEX "api_keys_by_account" ON "api_keys" USING btree ("account_id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_by_id" ON "api_keys" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "api_keys_expiring" ON "api_keys" USING btree ("expires_at") WHERE "api_keys"."expires_at" is not null and "api_keys"."expiry_event_at" is null;--> statement-breakpoint
CREATE INDEX "idempotency_claims_by_process" ON "idempotency_claims" USING btree ("process_id");--> statement-breakpoint
CREATE INDEX "idempotent_replies_by_expiry" ON "idempotent_replies" USING btree ("expires_at","body_bytes");--> statement-breakpoint
CREATE UNIQUE INDEX "invoices_by_period" ON "invoices" USING btree ("account_id","period_start");--> statement-breakpoint
CREATE INDEX "plan_periods_by_account" ON "plan_periods" USING btree ("account_id","period_start");--> statement-breakpoint
CREATE UNIQUE INDEX "plan_periods_running" ON "plan_periods" USING btree ("account_id") WHERE "plan_periods"."ends_at" is null;--> statement-breakpoint
CREATE INDEX "plan_periods_running_by_end" ON "plan_periods" USING btree ("period_end") WHERE "plan_periods"."ends_at" is null;--> statement-breakpoint
CREATE INDEX "plan_periods_uninvoiced_by_end" ON "plan_periods" USING btree ("period_end") WHERE "plan_periods"."invoice_id" is null;