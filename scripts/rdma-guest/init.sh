#!/bin/busybox sh
# The first program of a guest. Loads the modules, lays memory over the host's file system and goes on in guest.sh
# there.
/bin/busybox --install -s /bin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev

while read -r name; do
  insmod "/modules/$name" || echo "module $name did not load"
done </modules/order

p9=trans=virtio,version=9p2000.L,msize=524288
mkdir -p /below /above /system
mount -t 9p -o "$p9,ro,cache=loose" files /below
mount -t tmpfs none /above
mkdir /above/changed /above/scratch
mount -t overlay -o lowerdir=/below,upperdir=/above/changed,workdir=/above/scratch none /system

for place in proc sys dev; do mount --move "/$place" "/system/$place"; done
mkdir -p /system/dev/shm /system/dev/pts
mount -t tmpfs none /system/dev/shm
mount -t devpts none /system/dev/pts
mount -t tmpfs none /system/run
mkdir /system/run/guest
mount -t 9p -o "$p9" job /system/run/guest
exec switch_root /system /bin/sh /run/guest/guest.sh
