import { html, type TemplateResult } from './html.ts';

/** `auto` follows the system (`prefers-color-scheme`). */
const SCHEMES = { auto: 'As the system', light: 'Light', dark: 'Dark' } as const;
type Scheme = keyof typeof SCHEMES;

const STORED_AS = 'sonogate-scheme';

/** What was chosen on this machine. */
export function chosenScheme(): Scheme {
  const stored = localStorage.getItem(STORED_AS);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

/** Puts the choice into effect and keeps it. */
function chooseScheme(scheme: Scheme): void {
  localStorage.setItem(STORED_AS, scheme);
  applyScheme(scheme);
}

export function applyScheme(scheme: Scheme): void {
  if (scheme === 'auto') delete document.documentElement.dataset.scheme;
  else document.documentElement.dataset.scheme = scheme;
}

/** The switch in the bar. */
export function schemeSwitch(redraw: () => void): TemplateResult {
  const chosen = chosenScheme();
  return html`<label class="field">
    <span>Colours</span>
    <select
      @change=${(event: Event) => {
        if (event.target instanceof HTMLSelectElement) chooseScheme(event.target.value as Scheme);
        redraw();
      }}
    >
      ${Object.entries(SCHEMES).map(
        ([scheme, text]) =>
          html`<option value=${scheme} ?selected=${scheme === chosen}>${text}</option>`,
      )}
    </select>
  </label>`;
}
