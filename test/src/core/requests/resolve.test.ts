import { describe, expect, it } from 'vitest';
import { resolveEndpoint } from '../../../../src/core/requests/endpoint.ts';
import { endpoint } from './site.ts';

const versions = ['1.0.0', '1.10.0', '1.2.0', '2.0.0'].map((version) => ({ ...endpoint, version }));

describe('the endpoint of a call', () => {
  it.each([
    [null, '2.0.0'],
    ['1', '1.10.0'],
    ['1.2', '1.2.0'],
    ['1.0.0', '1.0.0'],
    ['2', '2.0.0'],
  ])('version %s is the newest that matches: %s', (version, expected) => {
    expect(resolveEndpoint(versions, 'us/test/interpret', version).version).toBe(expected);
  });

  it('has the model as an alias', () => {
    expect(resolveEndpoint(versions, 'us/test', '1').id).toBe('us/test/interpret');
  });

  it.each([
    ['us/none', null],
    ['us/test', '3'],
    ['us/test', '1.1'],
    ['us/test', ''],
    ['us/test', '1.0.0.0'],
  ])('%s@%s is unknown', (id, version) => {
    expect(() => resolveEndpoint(versions, id, version)).toThrow(
      expect.objectContaining({ code: 'unknown_endpoint' }),
    );
  });
});
