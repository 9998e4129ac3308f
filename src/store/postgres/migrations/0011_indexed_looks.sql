CREATE INDEX "accounts_erased" ON "accounts" USING btree ("account_id") WHERE "accounts"."erased_at" is not null;--> statement-breakpoint
DROP INDEX "jobs_listed";--> statement-breakpoint
CREATE INDEX "jobs_listed_by_time" ON "jobs" USING btree ("account_id","is_test","created_at","job_id") WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "jobs_listed_by_status" ON "jobs" USING btree ("account_id","is_test","status","created_at","job_id") WHERE "jobs"."deleted_at" is null;--> statement-breakpoint
DROP INDEX "api_keys_expiring";--> statement-breakpoint
CREATE INDEX "api_keys_without_event" ON "api_keys" USING btree ("expires_at") WHERE "api_keys"."expires_at" is not null and "api_keys"."expiry_event_at" is null and "api_keys"."revoked_at" is null and "api_keys"."rotates_at" is null;--> statement-breakpoint
-- Of many jobs this takes longer than their leases, which no node could renew meanwhile.
UPDATE jobs SET read_until = extract(epoch from clock_timestamp())::bigint * 1000 + 7000
WHERE status = 'receiving' AND reader IS NOT NULL;--> statement-breakpoint
UPDATE job_chunks SET lease_until = extract(epoch from clock_timestamp())::bigint * 1000 + 7000
WHERE (job_id, n) IN (
	-- Those that are locked are being renewed by what waits for this step.
	SELECT held.job_id, held.n FROM job_chunks held WHERE held.state = 'claimed' FOR UPDATE SKIP LOCKED
);
