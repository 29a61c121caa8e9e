import type { Router } from '@koa/router';
import { SonogateError } from '../errors/catalogue.ts';
import { readQuery } from '../http/query.ts';
import { auditRows } from './audit.ts';
import type { Facets, RowState, StudyPage, WorklistPage } from './contract.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { withGlances } from './glance.ts';
import { needs } from './guard.ts';
import { studyPage } from './study-page.ts';
import { listKeys, worklistQuery } from './worklist-query.ts';
import { type ListedRow, readRows, showRow } from './worklist-rows.ts';

/** `GET /worklist`, `/worklist/facets`, `/worklist/{key}` */
export function addWorklistRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, showSubject } = deps;

  router.get('/worklist', needs('read'), async (context) => {
    const filter = readQuery(context, worklistQuery);
    const { role } = context.state.session;
    const { critical, keys, nextCursor } = await listKeys(database, role, filter);
    const rows = await rowsOf([...critical, ...keys], deps);
    const shown = rows.map((row) => showRow(row, role, showSubject));
    await auditRows(context, shown, 'worklist', deps);
    const first = new Set(critical);
    context.body = {
      critical: shown.filter(({ key }) => first.has(key)),
      rows: shown.filter(({ key }) => !first.has(key)),
      nextCursor,
    } satisfies WorklistPage;
  });

  router.get('/worklist/facets', needs('read'), async (context) => {
    context.body = (await readFacets(deps)) satisfies Facets;
  });

  router.get('/worklist/:key', needs('read'), async (context) => {
    const { session } = context.state;
    const row = await existingRow(context.params.key, deps);
    await auditRows(context, [showRow(row, session.role, showSubject)], 'study', deps);
    context.body = (await studyPage(row, session.role, deps)) satisfies StudyPage;
  });
}

async function rowsOf(keys: readonly string[], deps: ConsoleDeps): Promise<ListedRow[]> {
  const { database, core, operations } = deps;
  const { wording } = operations;
  return withGlances(await readRows(database, keys), { database, result: core.result, wording });
}

/** @throws SonogateError `not_found` */
export async function existingRow(key: string | undefined, deps: ConsoleDeps): Promise<ListedRow> {
  const [row] = await rowsOf([key ?? ''], deps);
  if (!row) throw new SonogateError('not_found', 'There is no such study or request.');
  return row;
}

async function readFacets({ database }: ConsoleDeps): Promise<Facets> {
  const { rows } = await database.query<{
    state: RowState;
    source: string;
    endpoint: string | null;
    rows: number;
    critical: number;
  }>(
    `SELECT state, source, endpoint, count(*)::int AS rows,
       (count(*) FILTER (WHERE critical))::int AS critical
     FROM worklist GROUP BY state, source, endpoint`,
  );
  const tags = await database.query<{ tag: string }>(
    `SELECT DISTINCT unnest(tags) AS tag FROM worklist WHERE tags <> '{}' ORDER BY 1 LIMIT 200`,
  );
  const states = Map.groupBy(rows, ({ state }) => state);
  const distinct = (values: readonly (string | null)[]) =>
    [...new Set(values.filter((value) => value !== null))].sort();
  return {
    states: [...states].map(([state, of]) => ({
      state,
      rows: of.reduce((sum, row) => sum + row.rows, 0),
    })),
    sources: distinct(rows.map(({ source }) => source)),
    endpoints: distinct(rows.map(({ endpoint }) => endpoint)),
    tags: tags.rows.map(({ tag }) => tag),
    critical: rows.reduce((sum, row) => sum + row.critical, 0),
  };
}
