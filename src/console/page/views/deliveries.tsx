import { useEffect, useState } from "preact/hooks";
import { Await } from "../parts/await.tsx";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { ClosingDialog } from "../parts/dialog.tsx";
import { Facts } from "../parts/facts.tsx";
import { Moment } from "../parts/moment.tsx";
import { Failure } from "../parts/notice.tsx";
import { Pager } from "../parts/pager.tsx";
import { Table } from "../parts/table.tsx";
import { useConsole } from "../state/console.ts";
import { useAction } from "../state/use-action.ts";
import { useLoad } from "../state/use-load.ts";
import { usePaging } from "../state/use-paging.ts";
import { countOf } from "../text/format.ts";
import type { Delivery, DeliveryPage } from "../wire/bodies.ts";

const REFRESH_MS = 2_000;

/** What was sent to an endpoint, with its answers; refreshed while something is under way. */
export function DeliveriesCard({ path, turn }: { readonly path: string; readonly turn: number }) {
  const { api } = useConsole();
  const paging = usePaging();
  const [opened, setOpened] = useState<Delivery | null>(null);
  const action = useAction();
  const { cursor } = paging;
  const query = cursor === undefined ? "limit=20" : `limit=20&starting_after=${cursor}`;
  const page = useLoad(
    (signal) => api.read<DeliveryPage>(`${path}/deliveries?${query}`, signal),
    [path, query, turn],
  );
  const isMoving =
    page.state.status === "ready" &&
    page.state.value.data.some(({ state }) => state === "pending" || state === "sending");
  useEffect(() => {
    if (!isMoving) return;
    // Begun after each reply: a reload ends the one before it, which may take longer.
    const timer = setTimeout(page.reload, REFRESH_MS);
    return () => clearTimeout(timer);
  }, [page.state, page.reload]);
  const replay = ({ delivery_id }: Delivery) =>
    action.run(async () => {
      await api.send<Delivery>("POST", `${path}/deliveries/${delivery_id}/replay`);
      page.reload();
    });
  return (
    <Card title="Deliveries, last 30 days">
      <Failure message={action.failure} />
      <Await of={page} lines={5}>
        {({ data, has_more, next_cursor }) => (
          <>
            <DeliveryTable
              deliveries={data}
              isReplaying={action.isRunning}
              onOpen={setOpened}
              onReplay={replay}
            />
            <Pager paging={paging} next={has_more ? next_cursor : null} />
          </>
        )}
      </Await>
      {opened === null ? null : <Response delivery={opened} onClose={() => setOpened(null)} />}
    </Card>
  );
}

function DeliveryTable({
  deliveries,
  isReplaying,
  onOpen,
  onReplay,
}: {
  readonly deliveries: readonly Delivery[];
  readonly isReplaying: boolean;
  readonly onOpen: (delivery: Delivery) => void;
  readonly onReplay: (delivery: Delivery) => unknown;
}) {
  return (
    <Table
      caption="Deliveries"
      columns={[
        { head: "Event", cell: ({ type }: Delivery) => <code>{type}</code> },
        {
          head: "Status",
          cell: (delivery) => <DeliveryState delivery={delivery} />,
        },
        { head: "Response", cell: ({ status, error }) => status ?? error ?? "–" },
        { head: "Attempts", cell: ({ attempts }) => countOf(attempts), isNumber: true },
        {
          head: "Latency",
          cell: ({ latency_ms }) => (latency_ms === null ? "–" : `${countOf(latency_ms)} ms`),
          isNumber: true,
        },
        { head: "Created", cell: ({ created_at }) => <Moment at={created_at} /> },
        {
          head: "Actions",
          isActions: true,
          cell: (delivery) => (
            <span class="row">
              <Button look="small" label={`Response to ${delivery.type}`} onPress={() => onOpen(delivery)}>
                Response
              </Button>
              <Button
                look="small"
                label={`Replay ${delivery.type}`}
                isOff={isReplaying}
                onPress={() => onReplay(delivery)}
              >
                Replay
              </Button>
            </span>
          ),
        },
      ]}
      rows={deliveries}
      keyOf={({ delivery_id }) => delivery_id}
      empty={<p>Nothing was sent yet. A test event shows whether the endpoint answers.</p>}
    />
  );
}

function DeliveryState({ delivery: { state, next_attempt_at } }: { readonly delivery: Delivery }) {
  return (
    <span class="over">
      <Badge word={state} />
      {next_attempt_at === null ? null : (
        <small>
          next try <Moment at={next_attempt_at} />
        </small>
      )}
    </span>
  );
}

/** The last response of the endpoint. */
function Response({ delivery, onClose }: { readonly delivery: Delivery; readonly onClose: () => void }) {
  return (
    <ClosingDialog title={`Response to ${delivery.type}`} onClose={onClose}>
      <Facts
        facts={[
          ["Status", delivery.status],
          ["Error", delivery.error],
          ["Last attempt", <Moment key="last" at={delivery.last_attempt_at} />],
          ["Event", <code key="event">{delivery.event_id}</code>],
        ]}
      />
      <pre>
        <code>{delivery.answer ?? "There was no response."}</code>
      </pre>
    </ClosingDialog>
  );
}
