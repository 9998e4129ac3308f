import { asc, desc, eq, gt, inArray, lt, ne, sql } from "drizzle-orm";
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
  const listingsAfter = orm
    .select()
    .from(scannedHosts)
    .where(gt(scannedHosts.host, sql.placeholder("host")))
    .orderBy(asc(scannedHosts.host))
    .limit(sql.placeholder("limit"))
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
    list: (host: string, listing: string | null): boolean => {
      const { host: changed } = scannedHosts;
      if (listing === null) {
        return orm.delete(scannedHosts).where(eq(changed, host)).returning({ changed }).all().length > 0;
      }
      return (
        orm
          .insert(scannedHosts)
          .values({ host, listing })
          .onConflictDoUpdate({
            target: scannedHosts.host,
            set: { listing },
            setWhere: ne(scannedHosts.listing, listing),
          })
          .returning({ changed })
          .all().length > 0
      );
    },
    listingsAfter: (host: string, limit: number) => listingsAfter.all({ host, limit }),
  };
}
