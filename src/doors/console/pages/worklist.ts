import type {
  ConsoleEvent,
  ConsoleRole,
  Facets,
  RowState,
  WorklistQuery,
  WorklistRow,
} from '../contract.ts';
import { sentence } from './asking.ts';
import { html, live, nothing, type TemplateResult } from './html.ts';
import type { KeyBinding } from './keyboard.ts';
import { may, type OpenPage, type Page, type Surroundings } from './page.ts';
import { addressOf, type Place } from './router.ts';
import {
  belongs,
  firstPage,
  NO_ROWS,
  type RowList,
  RowTable,
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

/** Returns the query in the URL of the page; unknown states are omitted. */
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
      options: (facets?.endpoints ?? []).map(({ id, specialty }) => ({
        value: id,
        text: endpointText({ endpoint: id, specialty }),
      })),
    },
    { name: 'tag', text: 'Tag', all: 'All tags', options: plain(facets?.tags) },
  ];
}

/**
 * Adds the chosen value to the options. A value from the URL is thus shown as chosen even if the
 * installation does not have it, or no longer has it.
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
/** Milliseconds after a failure before further rows are requested again. */
const RETRY_MS = 5000;

/**
 * Opens the worklist: studies and requests as they arrive, those with unacknowledged critical flags
 * on top.
 */
export const openWorklist: OpenPage = (place, around) => new WorklistScreen(place, around);

class WorklistScreen implements Page {
  readonly #around: Surroundings;
  readonly #table: RowTable;
  readonly #saved = createSavedFilters();
  readonly #upload: ReturnType<typeof createUpload>;
  readonly #mayUpload: boolean;
  #query: WorklistQuery;
  #list: RowList = NO_ROWS;
  #facets: Facets | null = null;
  #problem: string | null = null;
  #state: 'loading' | 'loadingMore' | 'calm' = 'loading';
  #typing: number | undefined;
  /**
   * No further rows are requested before this time, in milliseconds since 1970. Without it, each
   * failure would be followed by the next request at once, because each redraw asks for more rows.
   */
  #moreFrom = 0;
  /**
   * Rows that changed while rows were being fetched. They may be newer than the fetched ones.
   */
  #early: WorklistRow[] = [];
  /** Number of queries so far. It is used to ignore responses to earlier queries. */
  #asked = 0;

  constructor(place: Place, around: Surroundings) {
    this.#around = around;
    this.#query = queryOf(place.query);
    this.#upload = createUpload(around);
    this.#mayUpload = may(around, 'run');
    this.#table = new RowTable({
      redraw: around.redraw,
      nearEnd: () => void this.#loadMore(),
    });
    void this.#load();
    void this.#loadFacets();
  }

  title(): string {
    return 'Worklist';
  }

  get keys(): KeyBinding[] {
    const table = this.#table;
    return [
      { key: 'j', does: 'next study', run: () => table.move(1, this.#rows) },
      { key: 'k', does: 'previous study', run: () => table.move(-1, this.#rows) },
      { key: 'Enter', does: 'open the study', run: () => table.open(this.#rows, this.#around.go) },
      { key: '/', does: 'search', run: () => document.getElementById('search')?.focus() },
      {
        key: 'c',
        does: 'toggle critical flags only',
        run: () => this.#ask({ ...this.#query, critical: this.#query.critical ? undefined : '1' }),
      },
    ];
  }

  changed(event: ConsoleEvent): void {
    if (event.type === 'reset') void Promise.all([this.#load(), this.#loadFacets()]);
    if (event.type === 'row') this.#rowChanged(event.data.row);
  }

  close(): void {
    this.#table.close();
  }

  get #rows(): WorklistRow[] {
    return [...this.#list.flagged, ...this.#list.rows];
  }

  async #load(): Promise<void> {
    this.#asked += 1;
    const question = this.#asked;
    this.#state = 'loading';
    try {
      const page = await this.#around.api.worklist({ ...this.#query, limit: PAGE_ROWS });
      if (question !== this.#asked) return;
      this.#list = firstPage(page);
      this.#problem = null;
    } catch (error) {
      if (question !== this.#asked) return;
      this.#problem = sentence(error);
    }
    this.#becomeCalm();
  }

  async #loadMore(): Promise<void> {
    const { nextCursor } = this.#list;
    if (this.#state !== 'calm' || nextCursor === null || Date.now() < this.#moreFrom) return;
    const question = this.#asked;
    this.#state = 'loadingMore';
    try {
      const query = { ...this.#query, limit: PAGE_ROWS, cursor: nextCursor };
      const page = await this.#around.api.worklist(query);
      if (question !== this.#asked) return;
      this.#list = withPage(this.#list, page);
      this.#problem = null;
    } catch (error) {
      if (question !== this.#asked) return;
      this.#problem = sentence(error);
      this.#moreFrom = Date.now() + RETRY_MS;
    }
    this.#becomeCalm();
  }

  /**
   * Applies the rows that changed during a fetch. They may be newer than the rows in its response.
   */
  #becomeCalm(): void {
    this.#state = 'calm';
    for (const row of this.#early.splice(0)) this.#rowChanged(row);
    this.#around.redraw();
  }

  /** Loads the filter choices separately, so that the rows do not have to wait for them. */
  async #loadFacets(): Promise<void> {
    try {
      this.#facets = await this.#around.api.facets();
    } catch (error) {
      this.#problem = sentence(error);
    }
    this.#around.redraw();
  }

  #ask(next: WorklistQuery): void {
    this.#query = next;
    this.#around.restate(addressOf('worklist', { query: textOf(next) }));
    this.#table.toTop();
    this.#around.redraw();
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => void this.#load(), TYPING_MS);
  }

  #rowChanged(row: WorklistRow): void {
    if (this.#state !== 'calm') {
      this.#early.push(row);
      return;
    }
    const before = this.#rows;
    const known = before.find(({ key }) => key === row.key);
    const stays = belongs(row, this.#query);
    if (stays === null && !known) return void this.#load();
    this.#list = withRow(this.#list, row, stays ?? true);
    if (this.#rows.length > before.length) this.#table.grewAbove();
    this.#announce(row, known);
    this.#around.redraw();
  }

  #announce(row: WorklistRow, known: WorklistRow | undefined): void {
    const { say } = this.#around;
    const flags = row.critical.map(({ text }) => text).join('; ');
    if (hasUnseenFlag(row) && !(known && hasUnseenFlag(known))) say(`Critical: ${flags}`, 'now');
    else if (!known) say(`New study from ${row.source}: ${subjectText(row.subject)}`);
  }

  view(): TemplateResult {
    const { session, redraw } = this.#around;
    const ask = (query: WorklistQuery) => this.#ask(query);
    const query = this.#query;
    const problem = this.#problem;
    const unknown = this.#state === 'loading' && this.#rows.length === 0;
    return html`<div
      class="worklist"
      @dragover=${(event: DragEvent) => this.#mayUpload && event.preventDefault()}
      @drop=${(event: DragEvent) => {
        if (!this.#mayUpload) return;
        event.preventDefault();
        void this.#upload.send([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <div class="page-head">
        <h1 tabindex="-1">Worklist</h1>
        <span class="soft">${unknown ? nothing : countText(this.#list)}</span>
        <span class="small soft push">AI drafts until a clinician signs them</span>
      </div>
      ${filtersView({ role: session.role, query, facets: this.#facets, ask })}
      ${this.#saved.view({ query, apply: ask, redraw })} ${this.#mayUpload ? this.#upload.view() : nothing}
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      ${this.#rowsView()}
    </div>`;
  }

  #rowsView(): TemplateResult {
    const rows = this.#rows;
    if (rows.length > 0) return this.#table.view(rows, this.#list.nextCursor === null);
    if (this.#state === 'loading') return html`<p class="soft waiting">Loading…</p>`;
    return Object.keys(textOf(this.#query)).length > 0
      ? empty(
          'No study matches this filter.',
          html`<button @click=${() => this.#ask({})}>Show all</button>`,
        )
      : empty('No study has arrived yet. A study appears here when its first image arrives.');
  }
}

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
