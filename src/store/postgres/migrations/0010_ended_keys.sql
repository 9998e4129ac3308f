CREATE INDEX "api_keys_unrevoked" ON "api_keys" USING btree ("account_id","expires_at") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "api_keys_revoked" ON "api_keys" USING btree ("account_id","revoked_at") WHERE "api_keys"."revoked_at" is not null;--> statement-breakpoint
CREATE INDEX "api_keys_by_expiry" ON "api_keys" USING btree ("expires_at") WHERE "api_keys"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "api_keys_by_revocation" ON "api_keys" USING btree ("revoked_at") WHERE "api_keys"."revoked_at" is not null;