import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAPI_INSTALLED, runHapi } from '../../../../fhir/hapi/run-hapi.ts';
import { type Gateway, startGateway } from '../gateway.ts';

describe.skipIf(!HAPI_INSTALLED)("HAPI's client", () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.stop());

  it("reads the gateway's capabilities, pages through its Tasks, reads one and understands a refusal", async () => {
    const requests = [await gateway.submit(), await gateway.submit(), await gateway.submit()];
    const tasks = requests.map((id) => id.replace('_', '-'));
    const [first = ''] = tasks;
    const printed = await runHapi('FhirClient', `${gateway.url}/fhir`, await gateway.key(), first);
    const facts = printed.trim().split('\n');
    expect(facts[0]).toBe('version\t4.0.1');
    expect(facts.slice(1, 4).toSorted()).toEqual(tasks.map((id) => `found\t${id}`).toSorted());
    expect(facts.slice(4)).toEqual([`read\taccepted\t${requests[0]}`, 'refused\t404\tnot-found']);
  }, 300_000);
});
