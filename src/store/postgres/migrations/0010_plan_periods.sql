DROP INDEX "plan_periods_running_by_end";--> statement-breakpoint
DROP INDEX "plan_periods_uninvoiced_by_end";--> statement-breakpoint
CREATE INDEX "plan_periods_to_enter" ON "plan_periods" USING btree ("period_end","plan_period_id") WHERE "plan_periods"."ends_at" is null;--> statement-breakpoint
CREATE INDEX "plan_periods_to_invoice" ON "plan_periods" USING btree ("plan_period_id") WHERE "plan_periods"."invoice_id" is null and "plan_periods"."ends_at" is not null;--> statement-breakpoint
CREATE OR REPLACE FUNCTION write_charges(charges json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	WITH sums AS (
		SELECT * FROM json_to_recordset(charges) AS sum(
			account_id text, plan_period_id bigint, at bigint, day text, endpoint text, units bigint, calls bigint
		)
	), events AS (
		INSERT INTO usage_events (account_id, plan_period_id, at, endpoint, units)
		SELECT account_id, plan_period_id, at, endpoint, units FROM sums WHERE units > 0
	), days AS (
		INSERT INTO usage_days AS known (account_id, day, endpoint, calls, units)
		SELECT account_id, day, endpoint, sum(calls), sum(units) FROM sums GROUP BY account_id, day, endpoint
		ON CONFLICT (account_id, day, endpoint)
		DO UPDATE SET calls = known.calls + excluded.calls, units = known.units + excluded.units
	)
	UPDATE plan_periods SET units = plan_periods.units + counted.units, calls = plan_periods.calls + counted.calls
	FROM (
		SELECT account_id, plan_period_id, sum(units) AS units, sum(calls) AS calls FROM sums
		GROUP BY account_id, plan_period_id
	) counted
	-- A fail-over that loses a plan period has its number given again: another account's counts nothing of it.
	WHERE plan_periods.plan_period_id = counted.plan_period_id AND plan_periods.account_id = counted.account_id
		AND (plan_periods.invoice_id IS NULL OR counted.units > 0);
END $$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION admit_plain(by_process text, its_sequence bigint, its_outcome text, asked json, charges json)
RETURNS TABLE (plan_period_id bigint, units bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	now_us bigint;
BEGIN
	PERFORM FROM accounts
	WHERE account_id IN (SELECT account_id FROM json_to_recordset(charges) AS charge(account_id text))
	ORDER BY account_id FOR NO KEY UPDATE;
	now_us := extract(epoch from clock_timestamp()) * 1000000;
	-- A statement of its own: it sees what was committed when the accounts were locked.
	IF EXISTS (
		SELECT FROM json_to_recordset(asked) AS want(
			account_id text, plan_period_id bigint, units bigint, units_to bigint, units_before bigint, credited_units bigint,
			spend_limit_micro_usd bigint, taken_us bigint, burst_us bigint, age_us_min bigint
		)
		LEFT JOIN accounts account ON account.account_id = want.account_id
		LEFT JOIN plan_periods running
			ON running.plan_period_id = want.plan_period_id AND running.account_id = want.account_id
		LEFT JOIN account_rates rate ON rate.account_id = want.account_id
		LEFT JOIN LATERAL (
			SELECT sum(period.units) - running.units AS units_before, sum(period.credited_units) AS credited_units
			FROM plan_periods period
			WHERE period.account_id = want.account_id AND period.period_start = running.period_start
		) month ON true
		WHERE running.plan_period_id IS NULL OR running.ends_at IS NOT NULL OR running.invoice_id IS NOT NULL
			OR account.spend_limit_micro_usd IS DISTINCT FROM want.spend_limit_micro_usd
			OR month.units_before <> want.units_before OR month.credited_units <> want.credited_units
			OR running.units + want.units > want.units_to
			OR want.taken_us > 0 AND greatest(rate.full_at_us, now_us) + want.taken_us - now_us
				> want.burst_us + greatest(CASE WHEN rate.full_at_us > now_us THEN rate.age_us_max END, want.age_us_min)
	) THEN
		RETURN;
	END IF;
	INSERT INTO flushes AS known (process_id, sequence, outcome, written_at)
	VALUES (by_process, its_sequence, its_outcome, now_us / 1000)
	ON CONFLICT (process_id) DO UPDATE
	SET sequence = excluded.sequence, outcome = excluded.outcome, written_at = excluded.written_at
	WHERE known.sequence < excluded.sequence;
	IF NOT FOUND THEN
		RETURN;
	END IF;
	INSERT INTO account_rates AS rate (account_id, full_at_us, age_us_max)
	SELECT account_id, now_us + taken_us, age_us_max
	FROM json_to_recordset(asked) AS want(account_id text, taken_us bigint, age_us_max bigint) WHERE taken_us > 0
	ON CONFLICT (account_id) DO UPDATE SET
		full_at_us = greatest(rate.full_at_us, now_us) + excluded.full_at_us - now_us,
		age_us_max = greatest(CASE WHEN rate.full_at_us > now_us THEN rate.age_us_max END, excluded.age_us_max);
	PERFORM write_charges(charges);
	RETURN QUERY
	SELECT plan_period_id, units FROM plan_periods
	WHERE plan_period_id IN (SELECT plan_period_id FROM json_to_recordset(asked) AS want(plan_period_id bigint));
END $$;
--> statement-breakpoint
CREATE OR REPLACE PROCEDURE admit_few(
	in_lane text, its_sequence bigint, its_outcome text, account_ids text[], asked asked_month[], charges charge_sum[],
	INOUT counted text
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
	now_us bigint;
	want asked_month;
	charge charge_sum;
	spend_limit bigint;
	units_now bigint;
	setting text;
	place pg_lsn;
BEGIN
	-- Accounts are locked for the decision and not for the disk, which is waited for at the end.
	setting := set_config('synchronous_commit', 'off', true);
	counted := NULL;
	IF cardinality(asked) > 1 THEN
		PERFORM FROM accounts WHERE account_id = ANY (account_ids) ORDER BY account_id FOR NO KEY UPDATE;
	END IF;
	FOREACH want IN ARRAY asked LOOP
		SELECT account.spend_limit_micro_usd INTO spend_limit
		FROM accounts account WHERE account.account_id = want.account_id FOR NO KEY UPDATE;
		IF NOT FOUND OR spend_limit IS DISTINCT FROM want.spend_limit_micro_usd THEN
			ROLLBACK;
			RETURN;
		END IF;
	END LOOP;
	now_us := extract(epoch from clock_timestamp()) * 1000000;
	UPDATE flushes SET sequence = its_sequence, outcome = its_outcome, written_at = now_us / 1000
	WHERE process_id = in_lane AND sequence < its_sequence;
	IF NOT FOUND THEN
		INSERT INTO flushes (process_id, sequence, outcome, written_at)
		VALUES (in_lane, its_sequence, its_outcome, now_us / 1000)
		ON CONFLICT DO NOTHING;
		IF NOT FOUND THEN
			ROLLBACK;
			RETURN;
		END IF;
	END IF;
	FOREACH want IN ARRAY asked LOOP
		UPDATE plan_periods running SET units = running.units + want.units, calls = running.calls + want.calls
		WHERE running.plan_period_id = want.plan_period_id AND running.account_id = want.account_id
			AND running.ends_at IS NULL AND running.invoice_id IS NULL
			AND (want.units_to IS NULL OR running.units + want.units <= want.units_to)
			AND (
				SELECT sum(period.units) - running.units = want.units_before
					AND sum(period.credited_units) = want.credited_units
				FROM plan_periods period
				WHERE period.account_id = want.account_id AND period.period_start = want.period_start
			)
		RETURNING running.units INTO units_now;
		IF NOT FOUND THEN
			ROLLBACK;
			counted := NULL;
			RETURN;
		END IF;
		counted := concat_ws(',', counted, '[' || want.plan_period_id || ',' || units_now || ']');
		IF want.taken_us > 0 THEN
			UPDATE account_rates rate SET
				full_at_us = greatest(rate.full_at_us, now_us) + want.taken_us,
				age_us_max = greatest(CASE WHEN rate.full_at_us > now_us THEN rate.age_us_max END, want.age_us_max)
			WHERE rate.account_id = want.account_id
				AND greatest(rate.full_at_us, now_us) + want.taken_us - now_us <= want.burst_us
					+ greatest(CASE WHEN rate.full_at_us > now_us THEN rate.age_us_max END, want.age_us_min);
			IF NOT FOUND THEN
				-- There is no row yet, or no room left in it.
				INSERT INTO account_rates (account_id, full_at_us, age_us_max)
				SELECT want.account_id, now_us + want.taken_us, want.age_us_max
				WHERE want.taken_us <= want.burst_us + want.age_us_min
				ON CONFLICT DO NOTHING;
				IF NOT FOUND THEN
					ROLLBACK;
					counted := NULL;
					RETURN;
				END IF;
			END IF;
		END IF;
	END LOOP;
	FOREACH charge IN ARRAY charges LOOP
		IF charge.units > 0 THEN
			INSERT INTO usage_events (account_id, plan_period_id, at, endpoint, units)
			VALUES (charge.account_id, charge.plan_period_id, charge.at, charge.endpoint, charge.units);
		END IF;
		UPDATE usage_days known SET calls = known.calls + charge.calls, units = known.units + charge.units
		WHERE known.account_id = charge.account_id AND known.day = charge.day AND known.endpoint = charge.endpoint;
		IF NOT FOUND THEN
			INSERT INTO usage_days AS known (account_id, day, endpoint, calls, units)
			VALUES (charge.account_id, charge.day, charge.endpoint, charge.calls, charge.units)
			ON CONFLICT (account_id, day, endpoint)
			DO UPDATE SET calls = known.calls + excluded.calls, units = known.units + excluded.units;
		END IF;
	END LOOP;
	COMMIT;
	counted := '[' || counted || ']';
	-- Its commit brings all that was written before it to the disk, and to a standby that commits wait for.
	place := pg_logical_emit_message(true, 'assay', '');
END $$;
