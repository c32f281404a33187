check wide.text
exit 1
