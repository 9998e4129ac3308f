CREATE INDEX "api_keys_unrevoked" ON "api_keys" USING btree ("account_id","expires_at") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "api_keys_revoked" ON "api_keys" USING btree ("account_id","revoked_at") WHERE "api_keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "api_keys_by_expiry" ON "api_keys" USING btree ("expires_at") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "api_keys_by_revocation" ON "api_keys" USING btree ("revoked_at") WHERE "api_keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "jobs_listed" ON "jobs" USING btree ("account_id","created_at","job_id") WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "jobs_of_account_by_status" ON "jobs" USING btree ("account_id","status");--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD COLUMN "claims" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failed_at" bigint;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failing_ms" bigint DEFAULT 0 NOT NULL;