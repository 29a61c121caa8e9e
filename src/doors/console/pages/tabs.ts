import { html, type TemplateResult } from './html.ts';

/** A part of a page; only one part is shown at a time. */
export interface Tab {
  /** Unique on the page. If the hash of the address is this id, the tab is open. */
  id: string;
  text: string;
  view(): unknown;
}

/** Returns the tab to show: the wanted one if it exists, otherwise the first. */
const openTab = (tabs: readonly Tab[], wanted: string): Tab | undefined =>
  tabs.find(({ id }) => id === wanted) ?? tabs[0];

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/**
 * Renders the names of the tabs and the content of the open one. The arrow keys move between the
 * names (ARIA, tabs).
 */
export function tabsView(
  tabs: readonly Tab[],
  wanted: string,
  choose: (id: string) => void,
): TemplateResult {
  const open = openTab(tabs, wanted);
  const moveOn = (event: KeyboardEvent) => {
    const step = STEPS[event.key];
    if (!step || !open) return;
    event.preventDefault();
    const next = tabs.at((tabs.indexOf(open) + step) % tabs.length);
    if (!next) return;
    choose(next.id);
    document.getElementById(`tab-${next.id}`)?.focus();
  };
  return html`<div class="tabs" role="tablist" aria-label="Parts of the study" @keydown=${moveOn}>
      ${tabs.map(
        ({ id, text }) => html`<button
          type="button"
          role="tab"
          id=${`tab-${id}`}
          aria-selected=${id === open?.id}
          aria-controls="tab-panel"
          tabindex=${id === open?.id ? 0 : -1}
          @click=${() => choose(id)}
        >
          ${text}
        </button>`,
      )}
    </div>
    <div id="tab-panel" role="tabpanel" aria-labelledby=${`tab-${open?.id}`}>${open?.view()}</div>`;
}
