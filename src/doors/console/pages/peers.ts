import type { DoctorFinding, Peer } from '../contract.ts';
import { sentence } from './asking.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { createLoader, shown } from './loading.ts';
import { objectText } from './object-names.ts';
import type { OpenPage } from './page.ts';
import { chip, counted, empty, given, momentText, type Tone, withCode } from './words.ts';

const KINDS = { source: 'Source', dicom: 'DICOM', fhir: 'EHR', hl7v2: 'HL7 v2' } as const;

const FOUND = {
  ok: { tone: 'good', text: 'OK' },
  warning: { tone: 'attention', text: 'Warning' },
  fault: { tone: 'critical', text: 'Fault' },
} as const satisfies Record<DoctorFinding['state'], { tone: Tone; text: string }>;

/** Key under which the findings of a full doctor run are stored. */
const EVERYTHING = '';

interface Examination {
  busy: boolean;
  findings: DoctorFinding[];
  problem: string | null;
}

function findingsView({ findings, problem }: Examination): TemplateResult {
  return html`${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    <ul class="found">
      ${findings.map(
        ({ what, state, detail }) => html`<li>
          ${chip(FOUND[state].tone, FOUND[state].text)} <strong>${given(what)}</strong>
          <span class="soft">${given(detail)}</span>
        </li>`,
      )}
    </ul>`;
}

function factsView({ address, objects, lastExchangeAt, lastError, lastErrorAt }: Peer) {
  return html`<dl class="facts">
    <dt>Address</dt>
    <dd>${given(address)}</dd>
    ${objects.length > 0 ? html`<dt>Receives</dt><dd>${objects.map(objectText).join(', ')}</dd>` : nothing}
    <dt>Last exchange</dt>
    <dd>${lastExchangeAt ? momentText(lastExchangeAt) : 'none yet'}</dd>
    ${
      lastError
        ? html`<dt>Last error</dt>
            <dd>
              ${lastError.title}${lastErrorAt ? `, ${momentText(lastErrorAt)}` : ''}
              <span class="second">${withCode(lastError.advice)}</span>
            </dd>`
        : nothing
    }
  </dl>`;
}

/**
 * Opens the page of the nodes with which this gateway exchanges data. A person can run the doctor
 * on them.
 */
export const openPeers: OpenPage = (_place, around) => {
  const { api, redraw, say } = around;
  const peers = createLoader<Peer[]>(() => api.peers(), redraw);
  const examined = new Map<string, Examination>();

  async function examine(peer: string): Promise<void> {
    examined.set(peer, { busy: true, findings: examined.get(peer)?.findings ?? [], problem: null });
    redraw();
    try {
      const findings = await api.doctor(peer === EVERYTHING ? {} : { peer });
      examined.set(peer, { busy: false, findings, problem: null });
      const faults = findings.filter(({ state }) => state === 'fault').length;
      say(faults === 0 ? 'No faults were found.' : `${counted(faults, 'fault')} found.`);
    } catch (error) {
      examined.set(peer, { busy: false, findings: [], problem: sentence(error) });
    }
    redraw();
  }

  function button(peer: string, text: string): TemplateResult {
    const busy = examined.get(peer)?.busy ?? false;
    return html`<button type="button" ?disabled=${busy} @click=${() => void examine(peer)}>
      ${busy ? 'Testing…' : text}
    </button>`;
  }

  function peerView(peer: Peer): TemplateResult {
    const examination = examined.get(peer.name);
    return html`<li class="panel">
      <div class="row">
        <h2>${given(peer.name)}</h2>
        <span class="chip">${KINDS[peer.kind]}</span>
        ${peer.tls ? chip('good', 'TLS') : chip('quiet', 'Not encrypted')}
        <span class="push">${peer.callable ? button(peer.name, 'Test') : nothing}</span>
      </div>
      ${factsView(peer)}
      ${examination ? findingsView(examination) : nothing}
    </li>`;
  }

  function everythingView(): TemplateResult | typeof nothing {
    const examination = examined.get(EVERYTHING);
    return examination
      ? html`<section class="panel" aria-label="What the test found">${findingsView(examination)}</section>`
      : nothing;
  }

  void peers.load();

  return {
    title: () => 'Peers',
    changed(event) {
      if (event.type === 'reset') void peers.load();
    },
    view: () => html`<div class="page-head">
        <h1 tabindex="-1">Peers</h1>
        <span class="push">${button(EVERYTHING, 'Test everything')}</span>
      </div>
      ${everythingView()}
      ${shown(peers, (all) =>
        all.length === 0
          ? empty(
              "No peers are configured. Sources and destinations are set in the site's configuration.",
            )
          : html`<ul class="peers">${all.map(peerView)}</ul>`,
      )}`,
  };
};
