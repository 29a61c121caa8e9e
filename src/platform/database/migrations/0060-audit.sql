-- Who read or changed which request, and when. Rows are only ever added.
CREATE TABLE audit (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL,
  account_id text NOT NULL,
  key_id text NOT NULL,
  -- `request.read`, see src/core/audit/audit.ts
  action text NOT NULL,
  -- Null for a list, and for a call that named no request of ours.
  request_id text,
  -- HTTP status the call was answered with.
  status integer NOT NULL,
  -- X-Request-Id of the call.
  call_id text NOT NULL
);

CREATE INDEX audit_request ON audit (request_id, id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_account ON audit (account_id, id);
