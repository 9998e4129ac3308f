CREATE PROCEDURE admit_at_once(
	by_process text, in_lane text, its_sequence bigint, its_outcome text, asked json, charges json,
	finished json, its_body bytea, INOUT counted text
) LANGUAGE plpgsql AS $$
BEGIN
	-- Accounts are locked for the decision and not for the disk, which is waited for at the end.
	PERFORM set_config('synchronous_commit', 'off', true);
	counted := NULL;
	IF finished IS NOT NULL THEN
		UPDATE job_chunks chunk SET
			state = CASE WHEN done.is_whole THEN 'done' ELSE 'waiting' END,
			attempt = CASE WHEN done.is_whole THEN 0 ELSE done.attempts_after END,
			owner = NULL, lease_until = NULL, rows_done = done.rows_done, unchecked = chunk.unchecked + done.unchecked,
			units = chunk.units + done.units, line_bytes = chunk.line_bytes + done.line_bytes
		FROM json_to_record(finished) AS done(
			job_id text, n bigint, attempt bigint, rows_before bigint, rows_done bigint, is_whole boolean,
			attempts_after bigint, unchecked bigint, units bigint, line_bytes bigint
		)
		WHERE chunk.job_id = done.job_id AND chunk.n = done.n AND chunk.attempt = done.attempt
			AND chunk.rows_done = done.rows_before AND chunk.owner = by_process AND chunk.state = 'claimed';
		IF NOT FOUND THEN
			RETURN;
		END IF;
		INSERT INTO job_results (job_id, n, rows_done, body)
		SELECT done.job_id, done.n, done.rows_done, its_body
		FROM json_to_record(finished) AS done(job_id text, n bigint, rows_done bigint);
	END IF;
	SELECT json_agg(json_build_array(plain.plan_period_id, plain.units))::text INTO counted
	FROM admit_plain(in_lane, its_sequence, its_outcome, asked, charges) plain;
	IF counted IS NULL THEN
		ROLLBACK;
		RETURN;
	END IF;
	IF finished IS NOT NULL THEN
		UPDATE jobs job SET processed = job.processed + done.processed, units_charged = job.units_charged + done.units,
			counts = (
				SELECT coalesce(json_object_agg(word, results)::text, '{}') FROM (
					SELECT key AS word, sum(value::bigint) AS results FROM (
						SELECT * FROM json_each_text(job.counts::json) UNION ALL SELECT * FROM json_each_text(done.counts)
					) AS each GROUP BY key
				) AS sums
			)
		FROM json_to_record(finished) AS done(job_id text, processed bigint, units bigint, counts json)
		WHERE job.job_id = done.job_id;
	END IF;
	COMMIT;
	-- Its commit brings all that was written before it to the disk, and to a standby that commits wait for.
	PERFORM pg_logical_emit_message(true, 'assay', '');
END $$;
