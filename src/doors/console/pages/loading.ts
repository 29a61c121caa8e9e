import { sentence } from './asking.ts';
import { html, type TemplateResult } from './html.ts';

/** Fetched data. The previous value stays on the screen while it is fetched again. */
interface Loaded<Value> {
  value: Value | null;
  problem: string | null;
}

export interface Loader<Value> extends Loaded<Value> {
  /** Fetches the data. Calls during a fetch cause one further fetch after it. */
  load(): Promise<void>;
  /**
   * Replaces the value. If a fetch is in progress, its response may be older than this value, so
   * the data is fetched once more afterwards.
   */
  set(value: Value): void;
}

/**
 * Creates a loader.
 * @param redraw is called when data has arrived or could not be fetched.
 */
export function createLoader<Value>(
  fetchIt: () => Promise<Value>,
  redraw: () => void,
): Loader<Value> {
  let under: Promise<void> | null = null;
  let again = false;

  async function fetchUntilCalm(): Promise<void> {
    do {
      again = false;
      try {
        loader.value = await fetchIt();
        loader.problem = null;
      } catch (error) {
        loader.problem = sentence(error);
      }
      redraw();
    } while (again);
    under = null;
  }

  const loader: Loader<Value> = {
    value: null,
    problem: null,
    load() {
      if (under) again = true;
      else under = fetchUntilCalm();
      return under ?? Promise.resolve();
    },
    set(value) {
      if (under) again = true;
      loader.value = value;
      redraw();
    },
  };
  return loader;
}

/**
 * Renders the fetched data, or the reason why it is missing. The old data stays visible during a
 * new fetch, so that the page does not flicker.
 */
export function shown<Value>(
  { value, problem }: Loaded<Value>,
  view: (value: Value) => TemplateResult,
): TemplateResult {
  const trouble = problem ? html`<p class="problem" role="alert">${problem}</p>` : '';
  if (value === null) return html`${trouble || html`<p class="soft waiting">Loading…</p>`}`;
  return html`${trouble}${view(value)}`;
}
