import { asc, desc, eq, inArray, lt, sql } from "drizzle-orm";
import type { ReportRow, ScanStore } from "../../../scan-port.ts";
import type { Orm } from "../../connection/orm.ts";
import { reports, scannedHosts } from "./scan-schema.ts";

/** The statements of the scans' database. */
export function createScanStore(orm: Orm): Omit<ScanStore, "sync"> {
  const find = orm
    .select()
    .from(reports)
    .where(eq(reports.reportId, sql.placeholder("reportId")))
    .prepare();
  const newest = orm
    .select()
    .from(reports)
    .where(eq(reports.origin, sql.placeholder("origin")))
    .orderBy(desc(reports.scannedAt))
    .limit(1)
    .prepare();
  return {
    insert: (row: ReportRow): void => {
      orm.insert(reports).values(row).run();
    },
    find: (reportId: string) => find.get({ reportId }),
    newest: (origin: string) => newest.get({ origin }),
    removeOld: (before: number, limit: number): number => {
      const old = orm
        .select({ reportId: reports.reportId })
        .from(reports)
        .where(lt(reports.scannedAt, before))
        .orderBy(asc(reports.scannedAt))
        .limit(limit);
      return orm
        .delete(reports)
        .where(inArray(reports.reportId, old))
        .returning({ reportId: reports.reportId })
        .all().length;
    },
    list: (host: string, listing: string | null): void => {
      if (listing === null) {
        orm.delete(scannedHosts).where(eq(scannedHosts.host, host)).run();
        return;
      }
      const set = { listing };
      orm
        .insert(scannedHosts)
        .values({ host, listing })
        .onConflictDoUpdate({ target: scannedHosts.host, set })
        .run();
    },
    listings: () =>
      orm
        .select({ listing: scannedHosts.listing })
        .from(scannedHosts)
        .orderBy(asc(scannedHosts.host))
        .all()
        .map(({ listing }) => listing),
  };
}
