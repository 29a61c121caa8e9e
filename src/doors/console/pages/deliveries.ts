import type { Delivery, DeliveryState, Destination, Page as Rows } from '../contract.ts';
import { createAsking, sentence } from './asking.ts';
import {
  DELIVERY_STATES,
  deliveryActions,
  deliveryChip,
  deliveryWords,
  type TypedReasons,
} from './delivery-parts.ts';
import { html, nothing, repeat, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import { deliveredText, destinationText } from './object-names.ts';
import { may, type OpenPage, type Surroundings } from './page.ts';
import { addressOf } from './router.ts';
import { examinationText, subjectDetail, subjectText } from './row-words.ts';
import { chip, counted, distanceText, empty, given, momentText } from './words.ts';

const KINDS: Readonly<Record<string, string>> = {
  dicom: 'DICOM',
  dicomweb: 'DICOMweb',
  fhir: 'EHR (FHIR)',
  local: 'Kept here',
  mail: 'Mail',
};

const isState = (text: string | null): text is DeliveryState =>
  text !== null && Object.hasOwn(DELIVERY_STATES, text);

interface DestinationCard {
  chosen: boolean;
  /** Who decides about held deliveries: "you" if this user may, otherwise "a person". */
  heldFor: string;
  choose(): void;
}

function destinationView(
  one: Destination,
  { chosen, heldFor, choose }: DestinationCard,
): TemplateResult {
  const now = new Date();
  return html`<li>
    <button type="button" class="card" aria-pressed=${chosen} @click=${choose}>
      <strong>${given(destinationText(one.name))}</strong>
      <span class="small soft">${KINDS[one.kind] ?? one.kind}${one.address ? html` · ${given(one.address)}` : nothing}</span>
      <span class="chips">
        ${one.dead > 0 ? chip('critical', `${one.dead} failed`) : nothing}
        ${one.held > 0 ? chip('attention', `${one.held} held for ${heldFor}`) : nothing}
        ${one.waiting + one.sending > 0 ? chip('active', `${one.waiting + one.sending} waiting`) : nothing}
        ${chip(one.deliveredLastDay > 0 ? 'good' : 'quiet', `${one.deliveredLastDay} in the last day`)}
      </span>
      <span class="small soft">
        ${one.lastDeliveredAt ? `last delivered ${momentText(one.lastDeliveredAt, now)}` : 'nothing delivered yet'}
        ${one.leftAloneUntil ? ` · sending paused until ${momentText(one.leftAloneUntil, now)}` : ''}
      </span>
      ${one.lastError && one.dead + one.held + one.waiting > 0 ? html`<span class="small">${one.lastError.title}</span>` : nothing}
    </button>
  </li>`;
}

function studyView(delivery: Delivery): TemplateResult | typeof nothing {
  const { key, subject } = delivery;
  if (key === null) return nothing;
  return html`<a href=${addressOf('study', { id: key })}>${given(subjectText(subject))}</a>
    <span class="second">${given(subjectDetail(subject))}</span>
    <span class="second">${given(examinationText(delivery))}</span>`;
}

/** Renders a delivery with its buttons (`actions`). */
const rowView = (delivery: Delivery, actions: TemplateResult | typeof nothing): TemplateResult =>
  html`<tr>
    <td>
      <strong>${given(destinationText(delivery.destination))}</strong>
      <span class="second">${deliveredText(delivery)}</span>
    </td>
    <td>${deliveryChip(delivery)}</td>
    <td>${deliveryWords(delivery)}</td>
    <td>
      ${studyView(delivery)}
      <span class="second moment">${distanceText(delivery.createdAt, new Date())}</span>
    </td>
    <td>${actions}</td>
  </tr>`;

const tableView = (
  rows: readonly Delivery[],
  row: (delivery: Delivery) => TemplateResult,
  more: (() => Promise<void>) | null,
): TemplateResult => html`<div class="scrolls panel">
    <table class="as-cards delivery-table">
      <thead>
        <tr>
          <th scope="col">Destination</th>
          <th scope="col">State</th>
          <th scope="col">What happened</th>
          <th scope="col">Study</th>
          <th scope="col"><span class="hidden-text">What can be done</span></th>
        </tr>
      </thead>
      <tbody>
        ${repeat(rows, ({ id }) => id, row)}
      </tbody>
    </table>
    ${more ? html`<p><button type="button" @click=${() => void more()}>More</button></p>` : nothing}
  </div>`;

/** Renders a button for each state, and one for all states. */
function statesView(
  chosen: DeliveryState | '',
  choose: (state: DeliveryState | '') => void,
): TemplateResult {
  const button = (state: DeliveryState | '', text: string) =>
    html`<button type="button" aria-pressed=${chosen === state} @click=${() => choose(state)}>
      ${text}
    </button>`;
  const states = Object.keys(DELIVERY_STATES) as DeliveryState[];
  return html`<div class="filters" role="group" aria-label="State">
    ${button('', 'All')} ${states.map((state) => button(state, DELIVERY_STATES[state].text))}
  </div>`;
}

interface DeliveryFilter {
  destination: string;
  state: DeliveryState | '';
}

/**
 * Returns the list after a delivery has changed. A listed delivery keeps its row even if it no
 * longer matches the filter, so that a person sees what became of it. Any other delivery that
 * matches is inserted by its id, newest first. It is omitted if it belongs on a page that is not
 * loaded yet.
 */
export function withDelivery(
  { rows, nextCursor }: Rows<Delivery>,
  delivery: Delivery,
  { destination, state }: DeliveryFilter,
): Rows<Delivery> {
  if (rows.some(({ id }) => id === delivery.id)) {
    return { rows: rows.map((one) => (one.id === delivery.id ? delivery : one)), nextCursor };
  }
  const matches =
    (destination === '' || delivery.destination === destination) &&
    (state === '' || delivery.state === state);
  const at = rows.findIndex(({ id }) => id < delivery.id);
  if (!matches || (at < 0 && nextCursor !== null)) return { rows, nextCursor };
  return { rows: rows.toSpliced(at < 0 ? rows.length : at, 0, delivery), nextCursor };
}

/** The deliveries that match the filter, loaded page by page. */
function createDeliveryList({ api, redraw }: Surroundings, filter: () => DeliveryFilter) {
  const fetchRows = (cursor?: string) => {
    const { destination, state } = filter();
    const chosen = { destination: destination || undefined, state: state || undefined };
    return api.deliveries({ ...chosen, limit: 100, cursor });
  };
  const loader = createLoader<Rows<Delivery>>(() => fetchRows(), redraw);
  /** Why further rows could not be loaded. */
  let moreProblem: string | null = null;
  return {
    loader,
    moreProblem: () => moreProblem,
    load(): void {
      moreProblem = null;
      void loader.load();
    },
    async more(): Promise<void> {
      const cursor = loader.value?.nextCursor;
      if (!cursor) return;
      try {
        const next = await fetchRows(cursor);
        const known = loader.value;
        // The list was loaded again meanwhile, perhaps with another filter.
        if (known?.nextCursor !== cursor) return;
        moreProblem = null;
        loader.set({ rows: [...known.rows, ...next.rows], nextCursor: next.nextCursor });
      } catch (error) {
        moreProblem = sentence(error);
        redraw();
      }
    },
    changed(delivery: Delivery): void {
      if (!loader.value) return void loader.load();
      loader.set(withDelivery(loader.value, delivery, filter()));
    },
  };
}

/** Opens the deliveries page: destinations, waiting deliveries and failed ones. */
export const openDeliveries: OpenPage = (place, around) => {
  const { api, redraw, restate } = around;
  let destination = place.query.get('destination') ?? '';
  const asked = place.query.get('state');
  let state: DeliveryState | '' = isState(asked) ? asked : '';
  const asking = createAsking(around);
  const typed: TypedReasons = new Map();
  const heldFor = may(around, 'confirm') ? 'you' : 'a person';
  const destinations = createLoader<Destination[]>(() => api.destinations(), redraw);
  const deliveries = createDeliveryList(around, () => ({ destination, state }));

  function ask(next: { destination?: string; state?: DeliveryState | '' }): void {
    destination = next.destination ?? destination;
    state = next.state ?? state;
    restate(addressOf('deliveries', { query: { destination, state } }));
    deliveries.load();
    redraw();
  }

  function deliveryChanged(delivery: Delivery): void {
    void destinations.load();
    deliveries.changed(delivery);
  }

  void destinations.load();
  deliveries.load();

  const actionsOf = (delivery: Delivery) =>
    deliveryActions(delivery, { around, asking, typed, changed: deliveryChanged });
  const cardOf = (one: Destination) => {
    const chosen = one.name === destination;
    return destinationView(one, {
      chosen,
      heldFor,
      choose: () => ask({ destination: chosen ? '' : one.name }),
    });
  };
  const rowsView = ({ rows, nextCursor }: Rows<Delivery>): TemplateResult => {
    const problem = deliveries.moreProblem();
    return rows.length === 0
      ? empty(
          state === 'dead'
            ? 'No delivery has failed.'
            : 'No delivery is in this state. A delivery appears when a result is ready for a destination.',
        )
      : html`${tableView(rows, (one) => rowView(one, actionsOf(one)), nextCursor ? deliveries.more : null)}
          ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}`;
  };

  return {
    title: () => 'Deliveries',
    keys: [
      { key: 'f', does: 'toggle failed only', run: () => ask({ state: state ? '' : 'dead' }) },
    ],
    changed(event) {
      if (event.type === 'reset') void Promise.all([destinations.load(), deliveries.loader.load()]);
      if (event.type === 'delivery') deliveryChanged(event.data);
    },
    view: () => html`<div class="page-head">
        <h1 tabindex="-1">Deliveries</h1>
        ${destinations.value ? html`<span class="soft">${counted(destinations.value.length, 'destination')}</span>` : nothing}
      </div>
      ${shown(destinations, (all) => html`<ul class="cards">${all.map(cardOf)}</ul>`)}
      ${statesView(state, (one) => ask({ state: one }))}
      ${shown(deliveries.loader, rowsView)}`,
  };
};
