import type { ConsoleRole, Facets, RowState, WorklistQuery, WorklistRow } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, live, nothing, type TemplateResult } from './html.ts';
import { may, type OpenPage } from './page.ts';
import { addressOf } from './router.ts';
import {
  belongs,
  createRowTable,
  firstPage,
  NO_ROWS,
  type RowList,
  withPage,
  withRow,
} from './row-table.ts';
import { endpointText, hasUnseenFlag, STATES, subjectText } from './row-words.ts';
import { createSavedFilters } from './saved-filters.ts';
import { createUpload } from './upload.ts';
import { counted, empty } from './words.ts';

interface Filters {
  role: ConsoleRole;
  query: WorklistQuery;
  facets: Facets | null;
  ask(query: WorklistQuery): void;
}

const SIGNATURES = [
  { value: 'unsigned', text: 'Not signed' },
  { value: 'signed', text: 'Signed' },
] as const;

/** Returns the query in an address; unknown states are omitted. */
function queryOf(asked: URLSearchParams): WorklistQuery {
  const part = (name: string) => asked.get(name) || undefined;
  const state = part('state');
  return {
    q: part('q'),
    state: state && Object.hasOwn(STATES, state) ? (state as RowState) : undefined,
    source: part('source'),
    endpoint: part('endpoint'),
    tag: part('tag'),
    critical: asked.get('critical') === '1' ? '1' : undefined,
    signature: SIGNATURES.find(({ value }) => value === part('signature'))?.value,
  };
}

interface Choice {
  name: 'state' | 'signature' | 'source' | 'endpoint' | 'tag';
  text: string;
  all: string;
  options: readonly { value: string; text: string }[];
}

function choices(facets: Facets | null): Choice[] {
  const plain = (values: readonly string[] = []) => values.map((value) => ({ value, text: value }));
  return [
    {
      name: 'state',
      text: 'State',
      all: 'All states',
      options: (facets?.states ?? []).map(({ state, rows, more }) => ({
        value: state,
        text: `${state === 'succeeded' ? 'Draft or signed' : STATES[state].text} (${rows.toLocaleString('en')}${more ? '+' : ''})`,
      })),
    },
    {
      name: 'signature',
      text: 'Signature',
      all: 'Signed or not',
      options: SIGNATURES,
    },
    { name: 'source', text: 'Source', all: 'All sources', options: plain(facets?.sources) },
    {
      name: 'endpoint',
      text: 'Examination',
      all: 'All examinations',
      options: (facets?.endpoints ?? []).map((value) => ({ value, text: endpointText(value) })),
    },
    { name: 'tag', text: 'Tag', all: 'All tags', options: plain(facets?.tags) },
  ];
}

/**
 * Adds the chosen value to the options. A value from the address is thus shown as chosen even if
 * the installation does not have it, or no longer has it.
 */
function withChosen({ options }: Choice, chosen: string): Choice['options'] {
  const known = chosen === '' || options.some(({ value }) => value === chosen);
  return known ? options : [...options, { value: chosen, text: chosen }];
}

function choiceView(choice: Choice, { query, ask }: Filters): TemplateResult {
  const chosen = String(query[choice.name] ?? '');
  const change = (event: Event) => {
    if (!(event.target instanceof HTMLSelectElement)) return;
    ask({ ...query, [choice.name]: event.target.value || undefined });
  };
  return html`<label>
    <span class="hidden-text">${choice.text}</span>
    <select name=${choice.name} @change=${change}>
      <option value="" ?selected=${chosen === ''}>${choice.all}</option>
      ${withChosen(choice, chosen).map(
        ({ value, text }) =>
          html`<option value=${value} ?selected=${value === chosen}>${text}</option>`,
      )}
    </select>
  </label>`;
}

/**
 * Placeholder of the search field for each role. It lists what the server searches for that role.
 */
const SEARCHED = {
  viewer: 'Search UID, request or tag',
  clinician: 'Search name, ID, accession, UID, tag',
  operator: 'Search UID, request or tag',
  administrator: 'Search name, ID, accession, UID, tag',
} as const satisfies Record<ConsoleRole, string>;

/** Renders search and filters; a filter without choices is not offered. */
function filtersView(filters: Filters): TemplateResult {
  const { query, facets, ask } = filters;
  const offered = choices(facets).filter(
    ({ name, options }) => name === 'state' || options.length > 1 || query[name],
  );
  return html`<form class="filters" role="search" @submit=${(event: Event) => event.preventDefault()}>
    <label>
      <span class="hidden-text">Search</span>
      <input
        id="search"
        type="search"
        placeholder=${SEARCHED[filters.role]}
        autocomplete="off"
        .value=${live(query.q ?? '')}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLInputElement) {
            ask({ ...query, q: event.target.value || undefined });
          }
        }}
        @keydown=${leaveOnEscape}
      />
    </label>
    ${offered.map((choice) => choiceView(choice, filters))}
    <label class="tick">
      <input
        type="checkbox"
        .checked=${live(query.critical === '1')}
        @change=${() => ask({ ...query, critical: query.critical ? undefined : '1' })}
      />
      Critical only${facets && facets.critical > 0 ? ` (${facets.critical})` : ''}
    </label>
  </form>`;
}

/** Leaves the search field on Escape, so that the keys of the list work again. */
function leaveOnEscape(event: KeyboardEvent): void {
  if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
}

const PAGE_ROWS = 100;
/** Milliseconds after the last change to the search or filters before the rows are loaded. */
const TYPING_MS = 200;

/**
 * Opens the worklist: studies and requests as they arrive, those with unacknowledged critical flags
 * on top.
 */
export const openWorklist: OpenPage = (place, around) => {
  const { api, redraw, say, restate } = around;
  let query: WorklistQuery = queryOf(place.query);
  let list: RowList = NO_ROWS;
  let facets: Facets | null = null;
  let problem: string | null = null;
  let state: 'loading' | 'loadingMore' | 'calm' = 'loading';
  let typing: number | undefined;
  /**
   * Rows that changed while the list was being fetched. They may be newer than the fetched list.
   */
  let early: WorklistRow[] = [];
  /** Number of queries so far. It is used to ignore responses to earlier queries. */
  let asked = 0;

  const saved = createSavedFilters();
  const upload = createUpload(around);
  const mayUpload = may(around, 'run');
  const table = createRowTable({ redraw, nearEnd: () => void loadMore() });

  async function load(): Promise<void> {
    asked += 1;
    const question = asked;
    state = 'loading';
    try {
      const page = await api.worklist({ ...query, limit: PAGE_ROWS });
      if (question !== asked) return;
      list = firstPage(page);
      problem = null;
    } catch (error) {
      problem = sentence(error);
    }
    state = 'calm';
    const rows = early;
    early = [];
    for (const row of rows) rowChanged(row);
    redraw();
  }

  /** Loads the filter choices separately, so that the rows do not have to wait for them. */
  async function loadFacets(): Promise<void> {
    try {
      facets = await api.facets();
    } catch (error) {
      problem = sentence(error);
    }
    redraw();
  }

  async function loadMore(): Promise<void> {
    if (state !== 'calm' || list.nextCursor === null) return;
    const question = asked;
    state = 'loadingMore';
    try {
      const page = await api.worklist({ ...query, limit: PAGE_ROWS, cursor: list.nextCursor });
      if (question !== asked) return;
      list = withPage(list, page);
    } catch (error) {
      problem = sentence(error);
    }
    state = 'calm';
    redraw();
  }

  function ask(next: WorklistQuery): void {
    query = next;
    restate(addressOf('worklist', { query: textOf(query) }));
    table.toTop();
    redraw();
    clearTimeout(typing);
    typing = setTimeout(() => void load(), TYPING_MS);
  }

  function rowChanged(row: WorklistRow): void {
    if (state === 'loading') {
      early.push(row);
      return;
    }
    const known = all().find(({ key }) => key === row.key);
    const stays = belongs(row, query);
    if (stays === null && !known) return void load();
    const count = all().length;
    list = withRow(list, row, stays ?? true);
    if (all().length > count) table.grewAbove();
    tellChange(row, known);
    redraw();
  }

  function tellChange(row: WorklistRow, known: WorklistRow | undefined): void {
    const flags = row.critical.map(({ text }) => text).join('; ');
    if (hasUnseenFlag(row) && !(known && hasUnseenFlag(known))) say(`Critical: ${flags}`, 'now');
    else if (!known) say(`New study from ${row.source}: ${subjectText(row.subject)}`);
  }

  const all = () => [...list.flagged, ...list.rows];

  void load();
  void loadFacets();

  return {
    title: () => 'Worklist',
    keys: [
      { key: 'j', does: 'next study', run: () => table.move(1, all()) },
      { key: 'k', does: 'previous study', run: () => table.move(-1, all()) },
      { key: 'Enter', does: 'open the study', run: () => table.open(all(), around.go) },
      { key: '/', does: 'search', run: () => document.getElementById('search')?.focus() },
      {
        key: 'c',
        does: 'toggle critical flags only',
        run: () => ask({ ...query, critical: query.critical ? undefined : '1' }),
      },
    ],
    changed(event) {
      if (event.type === 'reset') void Promise.all([load(), loadFacets()]);
      if (event.type === 'row') rowChanged(event.data.row);
    },
    close: () => table.close(),
    view: () => html`<div
      class="worklist"
      @dragover=${(event: DragEvent) => mayUpload && event.preventDefault()}
      @drop=${(event: DragEvent) => {
        if (!mayUpload) return;
        event.preventDefault();
        void upload.send([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <div class="page-head">
        <h1 tabindex="-1">Worklist</h1>
        <span class="soft">${state === 'loading' && all().length === 0 ? nothing : countText(list)}</span>
        <span class="small soft push">AI drafts until a clinician signs them</span>
      </div>
      ${filtersView({ role: around.session.role, query, facets, ask })}
      ${saved.view({ query, apply: ask, redraw })} ${mayUpload ? upload.view() : nothing}
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      ${rowsView()}
    </div>`,
  };

  function rowsView(): TemplateResult {
    const rows = all();
    if (rows.length > 0) return table.view(rows, list.nextCursor === null);
    if (state === 'loading') return html`<p class="soft waiting">Loading…</p>`;
    return Object.keys(textOf(query)).length > 0
      ? empty(
          'No study matches this filter.',
          html`<button @click=${() => ask({})}>Show all</button>`,
        )
      : empty('No study has arrived yet. A study appears here when its first image arrives.');
  }
};

/** Returns the query as text values, without empty ones. */
function textOf(query: WorklistQuery): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : [[name, String(value)]],
    ),
  );
}

function countText({ flagged, rows, nextCursor }: RowList): string {
  const more = nextCursor === null ? '' : ' and more';
  const flags = flagged.length > 0 ? `, ${flagged.length} with unseen critical flags` : '';
  return `${counted(flagged.length + rows.length, 'study', 'studies')}${more}${flags}`;
}
