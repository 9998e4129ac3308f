CREATE TABLE "signing_keys" (
	"kid" text PRIMARY KEY NOT NULL,
	"x" text NOT NULL,
	"shared_at" bigint NOT NULL
);
