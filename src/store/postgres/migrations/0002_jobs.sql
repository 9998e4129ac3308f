CREATE TABLE "job_chunks" (
	"job_id" text NOT NULL,
	"n" bigint NOT NULL,
	"state" text NOT NULL,
	"attempt" bigint NOT NULL,
	"first_row" bigint NOT NULL,
	"rows" bigint NOT NULL,
	"form" text NOT NULL,
	"duplicates" "bytea",
	"rows_done" bigint NOT NULL,
	"units" bigint NOT NULL,
	"unchecked" bigint NOT NULL,
	"line_bytes" bigint NOT NULL,
	"owner" text,
	"lease_until" bigint,
	CONSTRAINT "job_chunks_job_id_n_pk" PRIMARY KEY("job_id","n")
);
--> statement-breakpoint
CREATE TABLE "job_inputs" (
	"job_id" text NOT NULL,
	"n" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "job_inputs_job_id_n_pk" PRIMARY KEY("job_id","n")
);
--> statement-breakpoint
CREATE TABLE "job_part_frames" (
	"part_id" text NOT NULL,
	"frame" bigint NOT NULL,
	"job_id" text NOT NULL,
	"body" "bytea" NOT NULL,
	"written_at" bigint NOT NULL,
	CONSTRAINT "job_part_frames_part_id_frame_pk" PRIMARY KEY("part_id","frame")
);
--> statement-breakpoint
CREATE TABLE "job_parts" (
	"job_id" text NOT NULL,
	"n" bigint NOT NULL,
	"account_id" text NOT NULL,
	"part_id" text NOT NULL,
	"bytes" bigint NOT NULL,
	CONSTRAINT "job_parts_job_id_n_pk" PRIMARY KEY("job_id","n")
);
--> statement-breakpoint
CREATE TABLE "job_results" (
	"job_id" text NOT NULL,
	"n" bigint NOT NULL,
	"rows_done" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "job_results_job_id_n_rows_done_pk" PRIMARY KEY("job_id","n","rows_done")
);
--> statement-breakpoint
CREATE TABLE "jobs" (
	"job_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"kind" text NOT NULL,
	"name" text,
	"status" text NOT NULL,
	"status_reason" text,
	"created_at" bigint NOT NULL,
	"started_at" bigint,
	"finished_at" bigint,
	"expires_at" bigint,
	"erased_at" bigint,
	"deleted_at" bigint,
	"options" text NOT NULL,
	"input_table" text,
	"chunk_count" bigint NOT NULL,
	"rows" bigint NOT NULL,
	"distinct_rows" bigint NOT NULL,
	"units_per_item" bigint NOT NULL,
	"processed" bigint NOT NULL,
	"counts" text NOT NULL,
	"units_charged" bigint NOT NULL,
	"round" bigint NOT NULL,
	"is_test" boolean NOT NULL,
	"webhook_url" text,
	"reader" text,
	"read_until" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"delivery_id" text PRIMARY KEY NOT NULL,
	"webhook_id" text NOT NULL,
	"account_id" text NOT NULL,
	"url" text,
	"event_id" text NOT NULL,
	"type" text NOT NULL,
	"body" text NOT NULL,
	"created_at" bigint NOT NULL,
	"state" text NOT NULL,
	"attempts" bigint NOT NULL,
	"scheduled" bigint NOT NULL,
	"last_attempt_at" bigint,
	"next_attempt_at" bigint,
	"status" bigint,
	"error" text,
	"latency_ms" bigint NOT NULL,
	"answer" text,
	"owner" text,
	"lease_until" bigint
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"url" text NOT NULL,
	"events" text,
	"description" text,
	"disabled_reason" text,
	"secret" text NOT NULL,
	"former_secrets" text NOT NULL,
	"created_at" bigint NOT NULL,
	"failing_since" bigint,
	"due_at" bigint
);
--> statement-breakpoint
ALTER TABLE "jobs" ADD CONSTRAINT "jobs_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_account_id_accounts_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("account_id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "job_chunks_waiting" ON "job_chunks" USING btree ("job_id","n") WHERE "job_chunks"."state" = 'waiting';--> statement-breakpoint
CREATE INDEX "job_chunks_claimed" ON "job_chunks" USING btree ("job_id","n") WHERE "job_chunks"."state" = 'claimed';--> statement-breakpoint
CREATE INDEX "job_part_frames_by_job" ON "job_part_frames" USING btree ("job_id");--> statement-breakpoint
CREATE INDEX "job_part_frames_by_time" ON "job_part_frames" USING btree ("written_at");--> statement-breakpoint
CREATE INDEX "job_parts_by_account" ON "job_parts" USING btree ("account_id");--> statement-breakpoint
CREATE INDEX "jobs_by_account" ON "jobs" USING btree ("account_id","created_at","job_id");--> statement-breakpoint
CREATE INDEX "jobs_by_status" ON "jobs" USING btree ("status");--> statement-breakpoint
CREATE INDEX "jobs_by_expiry" ON "jobs" USING btree ("expires_at") WHERE "jobs"."erased_at" is null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_pending" ON "webhook_deliveries" USING btree ("webhook_id","next_attempt_at") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_sending" ON "webhook_deliveries" USING btree ("lease_until") WHERE "webhook_deliveries"."state" = 'sending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_webhook" ON "webhook_deliveries" USING btree ("webhook_id","created_at","delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_by_age" ON "webhook_deliveries" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "webhooks_by_account" ON "webhooks" USING btree ("account_id","created_at","webhook_id");--> statement-breakpoint
CREATE INDEX "webhooks_due" ON "webhooks" USING btree ("due_at") WHERE "webhooks"."due_at" is not null;--> statement-breakpoint
ALTER TABLE "job_inputs" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "job_results" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
ALTER TABLE "job_part_frames" ALTER COLUMN "body" SET STORAGE EXTERNAL;
