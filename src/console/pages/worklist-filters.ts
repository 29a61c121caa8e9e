import type { ConsoleRole, Facets, RowState, WorklistQuery } from '../contract.ts';
import { html, live, type TemplateResult } from './html.ts';
import { endpointText, STATES } from './row-words.ts';

interface Filters {
  role: ConsoleRole;
  query: WorklistQuery;
  facets: Facets | null;
  ask(query: WorklistQuery): void;
}

/** Pure: what an address asks for; a state that does not exist is left out. */
export function queryOf(asked: URLSearchParams): WorklistQuery {
  const part = (name: string) => asked.get(name) || undefined;
  const state = part('state');
  return {
    q: part('q'),
    state: state && Object.hasOwn(STATES, state) ? (state as RowState) : undefined,
    source: part('source'),
    endpoint: part('endpoint'),
    tag: part('tag'),
    critical: asked.get('critical') === '1' ? '1' : undefined,
  };
}

interface Choice {
  name: 'state' | 'source' | 'endpoint' | 'tag';
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
      options: (facets?.states ?? []).map(({ state, rows }) => ({
        value: state,
        text: `${STATES[state].text} (${rows.toLocaleString('en')})`,
      })),
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

/** A value of the address that the site does not, or no longer does, have is still shown as chosen. */
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

/** What the server searches for each role. */
const SEARCHED = {
  viewer: 'Search UID, request or tag',
  clinician: 'Search name, ID, accession, UID, tag',
  operator: 'Search UID, request or tag',
  administrator: 'Search name, ID, accession, UID, tag',
} as const satisfies Record<ConsoleRole, string>;

/** Search and filters; a filter with nothing to choose from is not offered. */
export function filtersView(filters: Filters): TemplateResult {
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

/** Escape gives the keys back to the list. */
function leaveOnEscape(event: KeyboardEvent): void {
  if (event.key === 'Escape' && event.target instanceof HTMLElement) event.target.blur();
}
