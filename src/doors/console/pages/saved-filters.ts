import type { WorklistQuery } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';

interface SavedFilter {
  name: string;
  query: Omit<WorklistQuery, 'q' | 'cursor' | 'limit'>;
}

const STORED_AS = 'sonogate-filters';
const PARTS = ['state', 'source', 'endpoint', 'tag', 'critical', 'signature'] as const;

/** Returns the filters in a stored text, ignoring any other stored content. */
function readFilters(stored: string | null): SavedFilter[] {
  let found: unknown;
  try {
    found = JSON.parse(stored ?? '[]');
  } catch {
    return [];
  }
  if (!Array.isArray(found)) return [];
  return found.flatMap((one: Partial<SavedFilter> | null) =>
    typeof one?.name === 'string' && typeof one.query === 'object' && one.query !== null
      ? [{ name: one.name, query: kept(one.query) }]
      : [],
  );
}

/**
 * Returns the part of a filter that is stored. The search text is omitted, because it may contain a
 * name and other people may use the browser.
 */
function kept(query: WorklistQuery): SavedFilter['query'] {
  return Object.fromEntries(
    PARTS.flatMap((part) => (typeof query[part] === 'string' ? [[part, query[part]]] : [])),
  );
}

interface Parts {
  query: WorklistQuery;
  apply(query: WorklistQuery): void;
  redraw(): void;
}

/** Creates the list of filters stored in this browser. Each filter is a button. */
export function createSavedFilters() {
  let saved = readFilters(localStorage.getItem(STORED_AS));
  let name: string | null = null;

  function store(next: SavedFilter[]): void {
    saved = next;
    localStorage.setItem(STORED_AS, JSON.stringify(saved));
  }

  function naming({ query, redraw }: Parts): TemplateResult {
    const save = (event: Event) => {
      event.preventDefault();
      const text = name?.trim();
      if (text)
        store([...saved.filter((one) => one.name !== text), { name: text, query: kept(query) }]);
      name = null;
      redraw();
    };
    return html`<form class="row" @submit=${save}>
      <input
        aria-label="Name of this filter"
        maxlength="40"
        autofocus
        .value=${name ?? ''}
        @input=${(event: Event) => {
          if (event.target instanceof HTMLInputElement) name = event.target.value;
        }}
      />
      <button type="submit" class="primary">Save</button>
    </form>`;
  }

  return {
    view(parts: Parts): TemplateResult | typeof nothing {
      const { query, apply, redraw } = parts;
      const now = JSON.stringify(kept(query));
      const known = saved.find((one) => JSON.stringify(one.query) === now);
      const isFilter = now !== '{}';
      if (saved.length === 0 && !isFilter) return nothing;
      return html`<div class="row saved" role="group" aria-label="Saved filters">
        ${saved.map(
          (
            one,
          ) => html`<button type="button" aria-pressed=${one === known} @click=${() => apply(one === known ? {} : one.query)}>
            ${one.name}
          </button>`,
        )}
        ${
          known
            ? html`<button type="button" class="plain" @click=${() => {
                store(saved.filter((one) => one !== known));
                redraw();
              }}>Remove “${known.name}”</button>`
            : nothing
        }
        ${
          isFilter && !known && name === null
            ? html`<button type="button" class="plain" @click=${() => {
                name = '';
                redraw();
              }}>Save this filter</button>`
            : nothing
        }
        ${name === null ? nothing : naming(parts)}
      </div>`;
    },
  };
}
