import { expect, test } from "bun:test";
import { settingNames, settingWarnings } from "../../src/app/setting-names.ts";

test.each([
  ["DNS_SERVER", "DNS_SERVERS"],
  ["PROT", "PORT"],
  ["port", "PORT"],
  ["ASSAY_PORT", "PORT"],
  ["DATADIR", "DATA_DIR"],
  ["DNS_TIMEOUT", "DNS_TIMEOUT_MS"],
  ["WORKER_THREAD", "WORKER_THREADS"],
  ["DIRECTORY_SYNC_SECOND", "DIRECTORY_SYNC_SECONDS"],
  ["LOGLEVEL", "LOG_LEVEL"],
  ["TRUSTED_PROXY", "TRUST_PROXY"],
  ["SHUTDOWN-GRACE-SECONDS", "SHUTDOWN_GRACE_SECONDS"],
])("%s is named, with the setting that was meant", (name, nearest) => {
  expect(settingWarnings({ [name]: "1" })).toEqual([
    `${name} is not a setting and has no effect; did you mean ${nearest}?`,
  ]);
});

test("settings, and the variables of other programs, are not named", () => {
  const others =
    "PATH HOME USER SHELL TERM LANG LANGUAGE PWD OLDPWD LOGNAME HOSTNAME HOSTTYPE MAIL EDITOR PAGER TZ TMPDIR DISPLAY SHLVL NODE_ENV npm_config_cache BUN_INSTALL MIMALLOC_PURGE_DELAY ASSAY_API_KEY BENCH_DIR HTTP_PROXY HTTPS_PROXY NO_PROXY CI KUBERNETES_PORT KUBERNETES_SERVICE_HOST LC_ALL XDG_DATA_DIRS DATABASE_HOST INVOCATION_ID SYSTEMD_EXEC_PID JOURNAL_STREAM";
  const environment = Object.fromEntries(
    [...others.split(" "), ...settingNames()].map((name) => [name, "1"]),
  );
  expect(settingWarnings(environment)).toEqual([]);
});
