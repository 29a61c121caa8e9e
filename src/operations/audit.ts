import { auditRows } from '../core/audit/audit.ts';
import { type AuditFacts, type AuditSite, factsOf } from '../core/audit/facts.ts';
import type { SubjectsOf } from '../core/audit/feed.ts';
import { loadPublicKeys, readCheckpoint, verifyAudit } from '../core/audit/seal.ts';
import type { Database } from '../platform/database/port.ts';
import { SonogateError } from '../platform/errors/catalogue.ts';

/** Formats of an export. Each format writes one event per line. */
export type AuditFormats = Readonly<Record<string, (facts: AuditFacts) => string>>;

const PAGE = 500;
const HIGHEST = 2n ** 63n - 1n;

export type AuditOperations = ReturnType<typeof createAuditOperations>;

export function createAuditOperations(parts: {
  database: Database;
  dataDir: string;
  subjectsOf: SubjectsOf;
  site: AuditSite;
  formats: AuditFormats;
}) {
  const { database, dataDir, subjectsOf, site, formats } = parts;
  return {
    /** @param publicKeys paths of further files with public keys that have signed seals. */
    async verify(publicKeys: readonly string[]) {
      const keys = await loadPublicKeys(dataDir, publicKeys);
      const verdict = await verifyAudit(database, keys, await readCheckpoint(dataDir));
      return {
        ...verdict,
        findings: verdict.findings.map(({ what, seal, ...of }) => {
          return { what, seal: String(seal), ...('row' in of && { row: String(of.row) }) };
        }),
      };
    },
    /** Returns a page of the audit trail, one line per event; `next` is null at the end. */
    async export(format: string, after: bigint) {
      const write = Object.hasOwn(formats, format) ? formats[format] : undefined;
      if (!write)
        throw new SonogateError(
          'invalid_input',
          `format: one of ${Object.keys(formats).join(', ')}`,
        );
      const rows = await auditRows(database, { after, until: HIGHEST, limit: PAGE });
      const subjects = await subjectsOf(rows);
      return {
        lines: rows.map((row) => write(factsOf(row, subjects.get(row.id) ?? null, site))),
        next: rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null,
      };
    },
  };
}
