CREATE TABLE "directory_parts" (
	"file" text NOT NULL,
	"starts_at" bigint NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "directory_parts_file_starts_at_pk" PRIMARY KEY("file","starts_at")
);
--> statement-breakpoint
CREATE TABLE "directory_state" (
	"state_id" bigint PRIMARY KEY NOT NULL,
	"owner" text,
	"lease_until" bigint,
	"term" bigint DEFAULT 0 NOT NULL,
	"revision" bigint DEFAULT 0 NOT NULL,
	"state" text,
	"synced_at" bigint DEFAULT 0 NOT NULL,
	"upstream_age_ms" bigint DEFAULT 0 NOT NULL
);
