CREATE FUNCTION write_charges(charges json) RETURNS void LANGUAGE plpgsql AS $$
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
	FROM (SELECT plan_period_id, sum(units) AS units, sum(calls) AS calls FROM sums GROUP BY plan_period_id) counted
	WHERE plan_periods.plan_period_id = counted.plan_period_id
		AND (plan_periods.invoice_id IS NULL OR counted.units > 0);
END $$;
--> statement-breakpoint
CREATE FUNCTION admit_plain(by_process text, its_sequence bigint, its_outcome text, asked json, charges json)
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
		LEFT JOIN plan_periods running ON running.plan_period_id = want.plan_period_id
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
