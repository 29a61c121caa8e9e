import type { InvokedDisplay } from '../contract.ts';
import { html } from './html.ts';
import { createLoader, shown } from './loading.ts';
import type { OpenPage } from './page.ts';
import { addressOf } from './router.ts';
import { daText } from './row-words.ts';
import { given } from './words.ts';

/**
 * Opens the page for Invoke Image Display (IHE RAD-106). Another program uses it to open a study by
 * its UID or accession number, or to list a patient's studies.
 */
export const openDisplay: OpenPage = ({ query }, { api, redraw }) => {
  const studies = createLoader<InvokedDisplay>(async () => {
    const found = await api.display(Object.fromEntries(query));
    const [only] = found.studies;
    // Replaces this page's history entry, so that the back button does not return to it.
    if (only && found.studies.length === 1) {
      location.replace(addressOf('study', { id: only.key }));
    }
    return found;
  }, redraw);
  void studies.load();

  return {
    title: () => 'Studies',
    view: () => html`<div class="page-head"><h1 tabindex="-1">Studies</h1></div>
      ${shown(
        studies,
        (found) => html`<ul class="panel artifacts">
          ${found.studies.map(
            ({ key, studyDate, description }) => html`<li>
              <a href=${addressOf('study', { id: key })}>
                ${given(daText(studyDate))} ${given(description)}
              </a>
            </li>`,
          )}
        </ul>`,
      )}`,
  };
};
