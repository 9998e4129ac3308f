CREATE TABLE `payments` (
	`payment_id` text PRIMARY KEY NOT NULL,
	`network` text NOT NULL,
	`payer` text NOT NULL,
	`pay_to` text NOT NULL,
	`asset` text NOT NULL,
	`amount_micro_usd` integer NOT NULL,
	`resource` text NOT NULL,
	`x402_version` integer NOT NULL,
	`proof` text NOT NULL,
	`fingerprint` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`is_doubtful` integer NOT NULL,
	`transaction_id` text,
	`request` text,
	`created_at` integer NOT NULL,
	`settled_at` integer,
	`answer` text,
	`answer_expires_at` integer NOT NULL,
	CONSTRAINT "payments_amount" CHECK("amount_micro_usd" > 0)
) STRICT;
--> statement-breakpoint
CREATE INDEX `payments_settling` ON `payments` (`created_at`) WHERE "state" = 'settling';
--> statement-breakpoint
CREATE INDEX `payments_by_answer_expiry` ON `payments` (`answer_expires_at`) WHERE "answer" is not null;
--> statement-breakpoint
CREATE TRIGGER `settled_payments_stay_settled` BEFORE UPDATE ON `payments`
WHEN OLD.`state` = 'settled' AND NEW.`state` <> 'settled'
BEGIN
	SELECT RAISE(ABORT, 'a settled payment stays settled');
END;
--> statement-breakpoint
CREATE TRIGGER `payments_never_go` BEFORE DELETE ON `payments`
BEGIN
	SELECT RAISE(ABORT, 'a payment never goes');
END;
