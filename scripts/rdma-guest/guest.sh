#!/bin/sh
# The second program of a guest, as root, with the host's files beneath it: makes the RDMA device, runs the command,
# tells how that ended. `settings` (exports) and `command` were written by guest.mjs. Two hosts have a network card; one
# host has a pair of virtual ones.
. /run/guest/settings

for port in /sys/class/virtio-ports/vport*; do
  [ "$(cat "$port/name")" = output ] && output=/dev/${port##*/}
done
mkfifo /run/output
cat </run/output >"$output" &
copier=$!
exec >/run/output 2>&1 </dev/null

ulimit -l unlimited
ip link set lo up
if [ "$AETHER_RDMA_HOSTS" = 2 ]; then
  card=eth0
else
  card=veth0
  ip link add veth0 type veth peer name veth1
  ip link set veth1 up
fi
ip link set "$card" up
ip addr add "$AETHER_RDMA_ADDRESS/24" dev "$card"
rdma link add rxe0 type rxe netdev "$card"
# After the device was made: so the IPv4 address is always GID 1.
ip addr add "$AETHER_RDMA_ADDRESS6/64" dev "$card" nodad

if [ -n "$AETHER_RDMA_SHARE" ]; then
  mkdir -p "$AETHER_RDMA_SHARE"
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=524288 share "$AETHER_RDMA_SHARE"
fi

date +%s >/run/guest/ready
(. /run/guest/command)
status=$?

exec >/dev/null 2>&1
# What the command left behind may hold the pipe open: the copier is not waited for longer than this.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  kill -0 "$copier" 2>/dev/null || break
  sleep 0.2
done
echo "$status" >/run/guest/status
sync
echo o >/proc/sysrq-trigger
sleep 60
